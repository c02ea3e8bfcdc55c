import { useSignal } from '@preact/signals';
import type { CreatedKey } from 'signalbox/client';
import { toHash } from '../router.ts';
import { isAllowed, isMounted } from '../routes.ts';
import type { ScreenView } from '../screen.ts';
import { connectTexts as words } from '../strings/connect.ts';
import { settingTexts } from '../strings/settings.ts';
import { CopyButton } from '../ui/copy.tsx';
import { Icon } from '../ui/icon.tsx';
import { Panel } from '../ui/panel.tsx';
import { Arrival } from './arrival.tsx';
import { KeyStep, noKey, useKeys } from './key-step.tsx';
import { type SenderName, toFormat, toIntake, toLines, toOtherLines } from './senders.ts';

const isSender = (name: string): name is SenderName => name in words.names;

/** List of senders and receivers, or the steps to connect one sender. */
const ConnectScreen = ({ rest }: { rest: string }) => (
  <div class="list">{isSender(rest) ? <Steps key={rest} sender={rest} /> : <Choices />}</div>
);

const Choices = () => (
  <>
    <p class="hint">{words.hint}</p>
    <Links
      title={words.senders}
      links={Object.entries(words.names).map(([sender, name]) => [toHash(`/connect/${sender}`), name])}
    />
    {isMounted('putDestination') && isAllowed('putDestination') && (
      <Links
        title={words.receivers}
        links={Object.entries(settingTexts.types).map(([type, name]) => [
          toHash('/settings/destinations', { new: '1', type }),
          name,
        ])}
      />
    )}
  </>
);

const Links = ({ title, links }: { title: string; links: [href: string, name: string][] }) => (
  <Panel title={title}>
    <ul class="choices">
      {links.map(([href, name]) => (
        <li key={href}>
          <a class="button" href={href}>
            {name}
          </a>
        </li>
      ))}
    </ul>
  </Panel>
);

const Steps = ({ sender }: { sender: SenderName }) => {
  const created = useSignal<CreatedKey | undefined>(undefined);
  const keys = useKeys(sender);
  const intake = toIntake();
  const lines = toLines(sender, intake, created.value?.key ?? noKey);
  const others = toOtherLines(sender, intake, created.value?.key ?? noKey);
  const hasKeys = isMounted('createKey');
  const linesStep = hasKeys ? 2 : 1;
  const isLocal = /^(localhost|127\.|\[::1\])/.test(intake.hostname);
  return (
    <>
      <a href="#/connect">
        <Icon name="back" /> {words.all}
      </a>
      <h2>{words.names[sender]}</h2>
      {hasKeys && (
        <Panel title={`1. ${words.key}`}>
          {isAllowed('createKey') ? (
            <KeyStep sender={sender} created={created} keys={keys} />
          ) : (
            <p>{words.askForKey(noKey)}</p>
          )}
        </Panel>
      )}
      <Panel title={`${linesStep}. ${words.lines}`}>
        <p>{words.where[sender]}</p>
        {isLocal && <p class="hint">{words.local(intake.hostname)}</p>}
        <div class="copied">
          <pre class="example">{lines}</pre>
          {others && (
            <>
              <p>{words.otherLines}</p>
              <pre class="example">{others}</pre>
            </>
          )}
          <div class="actions">
            <CopyButton label={words.copy} value={() => lines} />
            {sender === 'cron' && isMounted('listHeartbeats') && (
              <a class="button" href={toHash('/heartbeats', { new: '1' })}>
                {words.heartbeat}
              </a>
            )}
          </div>
        </div>
      </Panel>
      <Panel title={`${linesStep + 1}. ${words.arrival}`}>
        <Arrival
          format={toFormat(sender)}
          keyName={created.value?.name}
          earlierKeys={keys?.map(({ name }) => name) ?? []}
        />
      </Panel>
    </>
  );
};

export const connectView: ScreenView = { Screen: ConnectScreen };
