import type { Session } from 'signalbox/client';
import { client, userClient } from '../api.ts';
import { untilTime } from '../clock.ts';
import { toFull, toRelative, toTime } from '../format.ts';
import { useResource } from '../live/resource.ts';
import { useRun } from '../live/run.ts';
import { logOut } from '../session.ts';
import { settings as words } from '../strings/settings.ts';
import { Icon } from '../ui/icon.tsx';
import { Unloaded } from '../ui/panel.tsx';
import { type Column, Table, TwoLines } from '../ui/table.tsx';
import { notify } from '../ui/toast.tsx';

/** Where the user is logged in, and a way to end that. */
export const Sessions = () => {
  const { value, error, reload } = useResource((signal) => client.listSessions(undefined, { signal }));
  const { isRunning, run } = useRun(async () => {
    await userClient.endSessions();
    logOut();
    notify(words.loggedOut);
  });
  if (!value) return <Unloaded {...{ error, reload }} lines={6} />;
  return (
    <>
      <div class="list-head">
        <p class="hint">{words.sessionsHint}</p>
        <button type="button" aria-disabled={isRunning} onClick={run}>
          <Icon name="user" /> {words.logOutAll}
        </button>
      </div>
      <Table
        label={words.sections.sessions}
        columns={columns}
        rows={value.data}
        rowKey={({ id }) => id}
        compact={(session) => (
          <TwoLines
            title={<Client {...session} />}
            hint={
              <>
                {session.address} · <Ago time={session.renewedAt} />
              </>
            }
          />
        )}
      />
    </>
  );
};

const Ago = ({ time }: { time: string }) => (
  <time dateTime={time} title={toFull(new Date(time))}>
    {toRelative(untilTime(Date.parse(time)))}
  </time>
);

const Client = ({ client: agent, isCurrent }: Session) => (
  <bdi title={agent ?? undefined}>
    {shorten(agent ?? words.unknown)} {isCurrent && <span class="hint">({words.thisOne})</span>}
  </bdi>
);

/** In this order: most browsers also claim to be the ones after them. */
const browsers: [name: string, pattern: RegExp][] = [
  ['Edge', /\bEdg\w*\/(\d+)/],
  ['Opera', /\bOPR\/(\d+)/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /(?:Chrome|CriOS)\/(\d+)/],
  ['Safari', /\bVersion\/(\d+).*Safari\//],
];

const systems: [name: string, pattern: RegExp][] = [
  ['Android', /Android/],
  ['iOS', /iPhone|iPad/],
  ['Windows', /Windows/],
  ['macOS', /Macintosh/],
  ['Linux', /Linux/],
];

/** `Chrome 140 on Linux`; other programs as they name themselves. */
const shorten = (agent: string): string => {
  const [name, pattern] = browsers.find(([, each]) => each.test(agent)) ?? [];
  if (!agent.startsWith('Mozilla') || !pattern) return agent;
  const system = systems.find(([, each]) => each.test(agent))?.[0];
  const browser = `${name} ${pattern.exec(agent)?.[1]}`;
  return system ? words.onSystem(browser, system) : browser;
};

const columns: Column<Session>[] = [
  { key: 'client', title: words.client, cell: Client },
  { key: 'address', title: words.address, width: '12rem', cell: ({ address }) => address ?? words.unknown },
  { key: 'since', title: words.since, width: '10rem', cell: ({ startedAt }) => toTime(new Date(startedAt)) },
  { key: 'renewed', title: words.renewed, width: '9rem', cell: ({ renewedAt }) => <Ago time={renewedAt} /> },
];
