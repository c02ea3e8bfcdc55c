import { type Signal, useSignal } from '@preact/signals';
import type { CreatedKey, Key } from 'signalbox/client';
import { client, userClient } from '../api.ts';
import { untilTime } from '../clock.ts';
import { toRelative } from '../format.ts';
import { useResource } from '../live/resource.ts';
import { useRun } from '../live/run.ts';
import { toHash } from '../router.ts';
import { isAllowed, isMounted, isReadable } from '../routes.ts';
import type { ScreenView } from '../screen.ts';
import { connect as words } from '../strings/connect.ts';
import { settings } from '../strings/settings.ts';
import { CopyButton } from '../ui/copy.tsx';
import { Icon } from '../ui/icon.tsx';
import { Panel, Skeleton } from '../ui/panel.tsx';
import { Arrival } from './arrival.tsx';
import { type Sender, toFormat, toIntake, toLines } from './senders.ts';

/** Stands for the key until there is one. */
const noKey = 'KEY';

const isSender = (name: string): name is Sender => name in words.names;

/** Senders and receivers to choose from, or how to connect one sender. */
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
        links={Object.entries(settings.types).map(([type, name]) => [
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

const Steps = ({ sender }: { sender: Sender }) => {
  const made = useSignal<CreatedKey | undefined>(undefined);
  const keys = useKeys(sender);
  const intake = toIntake();
  const lines = toLines(sender, intake, made.value?.key ?? noKey);
  const isLocal = /^(localhost|127\.|\[::1\])/.test(intake.hostname);
  return (
    <>
      <a href="#/connect">
        <Icon name="back" /> {words.all}
      </a>
      <h2>{words.names[sender]}</h2>
      {isMounted('createKey') && isAllowed('createKey') && (
        <Panel title={`1. ${words.key}`}>
          <KeyStep sender={sender} made={made} keys={keys} />
        </Panel>
      )}
      <Panel title={`2. ${words.lines}`}>
        <p>{words.where[sender]}</p>
        {isLocal && <p class="hint">{words.local(intake.hostname)}</p>}
        <div class="copied">
          <pre class="example">{lines}</pre>
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
      <Panel title={`3. ${words.arrival}`}>
        <Arrival
          format={toFormat(sender)}
          keyName={made.value?.name}
          earlierKeys={keys?.map(({ name }) => name) ?? []}
        />
      </Panel>
    </>
  );
};

interface KeyStepProps {
  sender: Sender;
  made: Signal<CreatedKey | undefined>;
  keys: readonly Key[] | undefined;
}

const KeyStep = ({ sender, made, keys }: KeyStepProps) => {
  const { isRunning, run } = useRun(async () => {
    made.value = await createKey(sender);
  });
  if (!keys) return <Skeleton lines={2} />;
  if (made.value) {
    return (
      <>
        <p role="status">{words.created(made.value.name)}</p>
        {sender === 'github' && <code class="example">{made.value.key}</code>}
      </>
    );
  }
  const [last] = keys;
  const lastUse = last?.lastUsedAt && toRelative(untilTime(Date.parse(last.lastUsedAt)));
  return (
    <>
      {last && <p>{words.known(last.name, lastUse ?? undefined)}</p>}
      {last ? <p class="hint">{words.knownHint(noKey)}</p> : <p role="status">{words.keyHint}</p>}
      <div class="actions">
        <button type="button" class={last ? '' : 'primary'} aria-disabled={isRunning} onClick={run}>
          <Icon name="plus" /> {last ? words.createAnother : words.createKey}
        </button>
        {last && (
          <a class="button" href={toHash('/settings/keys')}>
            {words.keys}
          </a>
        )}
      </div>
    </>
  );
};

/** The keys that this screen has made for a sender, the last used first; none for those who may not see them. */
const useKeys = (sender: Sender): readonly Key[] | undefined => {
  const load = async (signal: AbortSignal) => {
    const { data } = isReadable('listKeys') ? await client.listKeys(undefined, { signal }) : { data: [] };
    const isOurs = ({ name, scopes }: Key) => isNameOf(sender, name) && scopes.includes('alerts:write');
    return data.filter(isOurs).toSorted((one, other) => timeOf(other) - timeOf(one));
  };
  const { value, error } = useResource(load);
  return value ?? (error && []);
};

const timeOf = ({ lastUsedAt }: Key): number => Date.parse(lastUsedAt ?? '') || 0;

/** A key that may only send alerts, with the first name that is free: `grafana`, `grafana-2`. */
const createKey = async (sender: Sender): Promise<CreatedKey> => {
  const { data } = await userClient.listKeys();
  const names = [sender, ...data.map((_, index) => `${sender}-${index + 2}`)];
  const name = names.find((each) => !data.some((key) => key.name === each)) ?? sender;
  return userClient.createKey({ name, scopes: ['alerts:write'] });
};

/** Whether a key may have been made for this sender. */
const isNameOf = (sender: Sender, name: string): boolean =>
  name === sender || (name.startsWith(`${sender}-`) && /^\d+$/.test(name.slice(sender.length + 1)));

export const connectView: ScreenView = { Screen: ConnectScreen };
