import type { Host } from 'signalbox/client';
import { toCount, toDuration } from '../format.ts';
import { type Params, place, toHash } from '../router.ts';
import { hostTexts as words } from '../strings/hosts.ts';
import { text } from '../strings/index.ts';
import { HostChip, HourLine, Meter, toShares } from '../ui/host-looks.tsx';
import { type Column, Table, TwoLines } from '../ui/table.tsx';
import { Since } from '../ui/time.tsx';

/** Returns the URL parameters of the list. They stay in the URL while a host is open. */
export const readListParams = (): Params => {
  const { q, tag, group } = place.value.params;
  return { q, tag, group };
};

const Name = ({ name }: Pick<Host, 'name'>) => (
  <a href={toHash(`/hosts/${encodeURIComponent(name)}`, readListParams())}>
    <bdi>{name}</bdi>
  </a>
);

const Incidents = ({ name, openIncidents }: Host) =>
  openIncidents > 0 ? (
    <a href={toHash('/incidents', { hostname: name })}>{words.open(toCount(openIncidents))}</a>
  ) : null;

/** Tags and note on one line. */
const toHint = ({ isHub, tags, note }: Host): string => [isHub && words.hub, ...tags, note].filter(Boolean).join(' · ');

const columns: Column<Host>[] = [
  { key: 'state', title: words.state, width: '7rem', cell: HostChip },
  {
    key: 'host',
    title: words.host,
    cell: (host) => <TwoLines title={<Name {...host} />} hint={<bdi title={toHint(host)}>{toHint(host)}</bdi>} />,
  },
  {
    key: 'cpu',
    title: words.cpu,
    width: 'clamp(7.5rem, 10vw, 14rem)',
    cell: (host) => <Meter label={words.cpu} share={toShares(host).cpu} />,
    sortBy: (host) => toShares(host).cpu ?? -1,
  },
  {
    key: 'memory',
    title: words.memory,
    width: 'clamp(7.5rem, 10vw, 14rem)',
    cell: (host) => <Meter label={words.memory} share={toShares(host).memory} />,
    sortBy: (host) => toShares(host).memory ?? -1,
  },
  {
    key: 'disk',
    title: words.disk,
    width: 'clamp(7.5rem, 10vw, 14rem)',
    cell: (host) => <Meter label={words.disk} share={toShares(host).disk} />,
    sortBy: (host) => toShares(host).disk ?? -1,
  },
  { key: 'hour', title: words.hour, width: 'clamp(4.5rem, 8vw, 13rem)', isMinor: true, cell: HourLine },
  {
    key: 'incidents',
    title: words.incidents,
    width: '6.5rem',
    align: 'end',
    cell: ({ name, openIncidents }) =>
      openIncidents > 0 ? <a href={toHash('/incidents', { hostname: name })}>{toCount(openIncidents)}</a> : null,
  },
  {
    key: 'uptime',
    title: words.uptime,
    width: '5.5rem',
    isMinor: true,
    cell: ({ uptimeSeconds }) => (uptimeSeconds === null ? '' : toDuration(uptimeSeconds, 1)),
  },
  { key: 'version', title: words.version, width: '5rem', isMinor: true, cell: ({ version }) => version },
];

const Labelled = (props: Parameters<typeof Meter>[0]) => (
  <span>
    <span class="hint one-line" aria-hidden="true">
      {props.label}
    </span>
    <Meter {...props} />
  </span>
);

const Compact = (host: Host) => {
  const { cpu, memory, disk } = toShares(host);
  return (
    <div class="two-lines">
      <div>
        <span class="one-line strong">
          <Name {...host} />
        </span>
        <HostChip {...host} />
      </div>
      <span class="one-line hint">
        {host.since && <Since time={host.since} />}
        {host.since && host.openIncidents > 0 && ' · '}
        <Incidents {...host} />
      </span>
      <span class="meters">
        <Labelled label={words.cpu} share={cpu} />
        <Labelled label={words.memory} share={memory} />
        <Labelled label={words.disk} share={disk} />
      </span>
    </div>
  );
};

/** Table of hosts with their readings. */
export const HostTable = ({ rows }: { rows: readonly Host[] }) => (
  <Table
    label={text.titles.hosts}
    columns={columns}
    rows={rows}
    rowKey={({ name }) => name}
    heights={[56, 132]}
    compact={Compact}
    rowClass={({ state }) => (state === 'stopped' || state === 'new' ? 'over' : '')}
  />
);
