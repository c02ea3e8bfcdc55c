import { useSignal } from '@preact/signals';
import type { SettingChange, SettingChangePage } from 'signalbox/client';
import { toPerson } from '../../src/kit/people.ts';
import { client, userClient } from '../api.ts';
import { toCount } from '../format.ts';
import { useResource } from '../live/resource.ts';
import { useRun } from '../live/run.ts';
import { toHash } from '../router.ts';
import { isMounted, type RouteName } from '../routes.ts';
import { text } from '../strings/index.ts';
import { settingTexts as words } from '../strings/settings.ts';
import { ListCount } from '../ui/list-head.tsx';
import { Empty, Unloaded } from '../ui/panel.tsx';
import { type Column, Table, TwoLines } from '../ui/table.tsx';
import { At } from '../ui/time.tsx';

const limit = 100;

/** Runtime setting changes with their authors, newest first. */
export const ChangesSection = () => {
  const { value: first, error, reload } = useResource((signal) => client.listSettingChanges({ limit }, { signal }));
  /** Pages after the first. They are discarded when the first page is reloaded. */
  const read = useSignal<{ first?: SettingChangePage | undefined; older: SettingChangePage[] }>({ older: [] });
  const older = read.value.first === first ? read.value.older : [];
  const next = (older.at(-1) ?? first)?.next ?? undefined;
  const { isRunning, run } = useRun(async () => {
    const page = await userClient.listSettingChanges({ limit, before: next });
    read.value = { first, older: [...older, page] };
  });
  if (!first) return <Unloaded error={error} reload={reload} lines={12} />;
  const rows = [first, ...older].flatMap(({ data }) => data);
  if (rows.length === 0) return <Empty title={words.changesNone} hint={words.changesHint} />;
  return (
    <>
      <ListCount>{words.changesShown(toCount(rows.length))}</ListCount>
      <Table
        label={words.sections.changes}
        columns={columns}
        rows={rows}
        rowKey={({ seq }) => seq}
        compact={toCompact}
      />
      {next !== undefined && (
        <div class="more">
          <button type="button" aria-disabled={isRunning} onClick={run}>
            {isRunning ? text.loading : words.loadMore}
          </button>
        </div>
      )}
    </>
  );
};

/** Screen for each kind, with the route that it needs. */
const places: Record<string, [needs: RouteName, toAddress: (name: string) => string]> = {
  user: ['listUsers', (name) => toHash('/settings/users', { open: name })],
  'session-end': ['listUsers', (name) => toHash('/settings/users', { open: name })],
  key: ['listKeys', (name) => toHash('/settings/keys', { open: name })],
  destination: ['listDestinations', (name) => toHash('/settings/destinations', { open: name })],
  watch: ['listWatches', (name) => toHash(`/watches/${encodeURIComponent(name)}`)],
  heartbeat: ['listHeartbeats', (name) => toHash(`/heartbeats/${encodeURIComponent(name)}`)],
  silence: ['getSilence', (name) => toHash(`/silences/${encodeURIComponent(name)}`)],
  override: ['listDeliveries', () => toHash('/notifications')],
};

const toKind = (kind: string): string => (words.kinds as Record<string, string>)[kind] ?? kind;

/** Link to the changed item, unless the item was deleted. */
const What = ({ kind, name, label, change }: SettingChange) => {
  const [needs, toAddress] = places[kind] ?? [];
  const address = change === 'put' && needs !== undefined && isMounted(needs) ? toAddress?.(name) : undefined;
  const shown = (
    <>
      {toKind(kind)} <bdi>{label ?? name}</bdi>
    </>
  );
  return address ? <a href={address}>{shown}</a> : <span>{shown}</span>;
};

const toDone = ({ kind, change, isNew, fields }: SettingChange): string => {
  if (kind === 'session-end') return words.sessionsEnded;
  if (change === 'put' && isNew) return words.created;
  return fields.length > 0 ? words.changedFields(fields.map(toFieldName).join(', ')) : words.changes[change];
};

/** Formats the name of a field: `endsAt` becomes `ends at`. A hash is shown under the name of the hashed field. */
const toFieldName = (name: string): string =>
  name.replace(/Hash$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const columns: Column<SettingChange>[] = [
  { key: 'time', title: words.time, width: '10rem', cell: ({ at }) => <At time={at} /> },
  {
    key: 'by',
    title: words.by,
    width: 'clamp(7rem, 18vw, 16rem)',
    cell: ({ by }) => <bdi title={toPerson(by)}>{toPerson(by)}</bdi>,
  },
  {
    key: 'change',
    title: words.action,
    width: 'clamp(9rem, 22vw, 24rem)',
    cell: (each) => <span title={toDone(each)}>{toDone(each)}</span>,
  },
  { key: 'what', title: words.what, cell: What },
];

const toCompact = (change: SettingChange) => (
  <TwoLines
    title={<What {...change} />}
    hint={
      <>
        {toDone(change)} · <At time={change.at} /> · <bdi>{toPerson(change.by)}</bdi>
      </>
    }
  />
);
