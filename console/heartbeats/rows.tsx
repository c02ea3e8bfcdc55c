import type { Heartbeat } from 'signalbox/client';
import { type ActiveIncidents, findIncident } from '../live/active-incidents.ts';
import { place, toHash } from '../router.ts';
import { heartbeatTexts as words } from '../strings/heartbeats.ts';
import { text } from '../strings/index.ts';
import { HeartbeatChip } from '../ui/heartbeat-chip.tsx';
import { IncidentLink } from '../ui/incident-link.tsx';
import { type Column, Table, TwoLines } from '../ui/table.tsx';
import { describeExpected, describeLast, describeLimits } from './expected.ts';
import { RunStrip, toRunTime } from './looks.tsx';

const Name = ({ name }: Pick<Heartbeat, 'name'>) => (
  <a href={toHash(`/heartbeats/${encodeURIComponent(name)}`, { q: place.value.params['q'] })}>
    <bdi>{name}</bdi>
  </a>
);

/** Returns the first line of the description, and the source of the definition. */
const toAbout = ({ description, isConfigured, tags }: Heartbeat): string =>
  [description.split('\n')[0], tags.length > 0 && tags.join(', '), isConfigured && words.configured]
    .filter(Boolean)
    .join(' · ');

/** Next event, and the open incident, if any. */
const Next = ({ heartbeat, incidents }: { heartbeat: Heartbeat; incidents: ActiveIncidents }) => {
  const [, next] = describeLast(heartbeat);
  const incident = findIncident(incidents, `heartbeat/${heartbeat.name}`);
  return (
    <>
      <IncidentLink incident={incident} />
      {next && incident && ' · '}
      {next}
    </>
  );
};

const Last = ({ heartbeat }: { heartbeat: Heartbeat }) => {
  const [last] = describeLast(heartbeat);
  return <span title={last}>{last}</span>;
};

const Runs = ({ heartbeat: { recentRuns = [], lastRun } }: { heartbeat: Heartbeat }) => (
  <div class="run-line">
    <RunStrip runs={recentRuns} />
    <span class="hint">{lastRun?.durationMs != null && toRunTime(lastRun.durationMs)}</span>
  </div>
);

const createColumns = (incidents: ActiveIncidents): Column<Heartbeat>[] => [
  { key: 'state', title: words.state, width: '7.5rem', cell: ({ state }) => <HeartbeatChip state={state} /> },
  {
    key: 'heartbeat',
    title: words.heartbeat,
    cell: (each) => (
      <TwoLines title={<Name name={each.name} />} hint={<bdi title={toAbout(each)}>{toAbout(each)}</bdi>} />
    ),
  },
  {
    key: 'expected',
    title: words.expected,
    isMinor: true,
    cell: (each) => (
      <TwoLines
        title={<span title={describeExpected(each)}>{describeExpected(each)}</span>}
        hint={<span title={describeLimits(each)}>{describeLimits(each)}</span>}
      />
    ),
  },
  { key: 'runs', title: words.runs, width: 'clamp(10rem, 16vw, 16rem)', cell: (each) => <Runs heartbeat={each} /> },
  {
    key: 'last',
    title: words.last,
    width: 'clamp(12rem, 19vw, 24rem)',
    cell: (each) => (
      <TwoLines title={<Last heartbeat={each} />} hint={<Next heartbeat={each} incidents={incidents} />} />
    ),
  },
];

const toCompact = (incidents: ActiveIncidents) => (each: Heartbeat) => (
  <div class="two-lines">
    <div>
      <span class="one-line strong">
        <Name name={each.name} />
      </span>
      <HeartbeatChip state={each.state} />
    </div>
    <span class="two-line">
      <Last heartbeat={each} />
    </span>
    <span class="one-line hint">{describeExpected(each)}</span>
    <span class="one-line hint">
      <Next heartbeat={each} incidents={incidents} />
    </span>
    <Runs heartbeat={each} />
  </div>
);

/** Table of heartbeats. Paused heartbeats are dimmed. */
export const HeartbeatTable = ({ rows, incidents }: { rows: readonly Heartbeat[]; incidents: ActiveIncidents }) => (
  <Table
    label={text.titles.heartbeats}
    columns={createColumns(incidents)}
    rows={rows}
    rowKey={({ name }) => name}
    heights={[72, 160]}
    compact={toCompact(incidents)}
    rowClass={({ state }) => (state === 'paused' ? 'over' : '')}
  />
);
