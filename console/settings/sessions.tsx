import type { Session } from 'signalbox/client';
import { client, userClient } from '../api.ts';
import { toTime } from '../format.ts';
import { useResource } from '../live/resource.ts';
import { useRun } from '../live/run.ts';
import { logOut } from '../session.ts';
import { settingTexts as words } from '../strings/settings.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { Unloaded } from '../ui/panel.tsx';
import { type Column, Table, TwoLines } from '../ui/table.tsx';
import { Ago } from '../ui/time.tsx';
import { notify } from '../ui/toast.tsx';
import { OwnPassword } from './own-password.tsx';

/** Sessions of the user, with a button to log out everywhere. */
export const SessionsSection = () => {
  const { value, error, reload } = useResource((signal) => client.listSessions(undefined, { signal }), {
    isKept: true,
  });
  const { isRunning, run } = useRun(async () => {
    await userClient.endSessions();
    logOut();
    notify(words.loggedOut);
  });
  if (!value) return <Unloaded error={error} reload={reload} lines={6} />;
  return (
    <>
      <div class="list-head">
        <p class="hint">{words.sessionsHint}</p>
        <div class="actions">
          <OwnPassword />
          <IconButton icon="user" label={words.logOutAll} isDisabled={isRunning} onClick={run} />
        </div>
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

const Client = ({ client: agent, isCurrent }: Session) => (
  <bdi title={agent ?? undefined}>
    {shorten(agent ?? words.unknown)} {isCurrent && <span class="hint">({words.thisOne})</span>}
  </bdi>
);

/**
 * Names of browsers by token in the user agent, in the order in which tokens are searched. The order matters, because a
 * user agent also contains the tokens of later entries.
 */
const browsers = { Edg: 'Edge', OPR: 'Opera', Firefox: 'Firefox', Chrome: 'Chrome', Version: 'Safari' };
const systems = ['Windows', 'Android', 'iPhone', 'iPad', 'Mac', 'Linux'];

/** Shortens a user agent: `Mozilla/5.0 (X11; Linux x86_64) … Chrome/120.0.0.0 Safari/537.36` → `Chrome 120, Linux`. */
const shorten = (agent: string): string => {
  for (const [sign, name] of Object.entries(browsers)) {
    const [, version] = new RegExp(`${sign}/(\\d+)`).exec(agent) ?? [];
    if (version) return [`${name} ${version}`, systems.find((each) => agent.includes(each))].filter(Boolean).join(', ');
  }
  return agent;
};

const columns: Column<Session>[] = [
  { key: 'client', title: words.client, cell: Client },
  { key: 'address', title: words.address, width: '12rem', cell: ({ address }) => address ?? words.unknown },
  { key: 'since', title: words.since, width: '10rem', cell: ({ startedAt }) => toTime(new Date(startedAt)) },
  { key: 'renewed', title: words.renewed, width: '9rem', cell: ({ renewedAt }) => <Ago time={renewedAt} /> },
];
