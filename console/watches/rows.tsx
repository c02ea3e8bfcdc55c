import type { Watch } from 'signalbox/client';
import { toCount } from '../format.ts';
import { type ActiveIncidents, findIncident } from '../live/active-incidents.ts';
import { place, toHash } from '../router.ts';
import { text } from '../strings/index.ts';
import { watchTexts as words } from '../strings/watches.ts';
import { IncidentLink } from '../ui/incident-link.tsx';
import { type Column, Table, TwoLines } from '../ui/table.tsx';
import { Since } from '../ui/time.tsx';
import { describeWatch, findWorst } from './kinds.ts';
import { RecentLine, WatchChip } from './looks.tsx';

const Name = ({ watch: { name } }: { watch: Watch }) => (
  <a href={toHash(`/watches/${encodeURIComponent(name)}`, { q: place.value.params['q'] })}>
    <bdi>{name}</bdi>
  </a>
);

/** Describes the watched things and the source of the definition. */
const toWhat = ({ settings, origin }: Watch): string =>
  [describeWatch(settings), words.origins[origin]].filter(Boolean).join(' · ');

/** Formats the last reading as text. */
const toReading = (watch: Watch): string => {
  const worst = findWorst(watch);
  const others = watch.things.length - 1;
  if (!worst) return watch.state === 'ok' ? words.nothingBad : '';
  return others > 0 ? words.more(worst.text, toCount(others)) : worst.text;
};

const Chip = ({ watch }: { watch: Watch }) => <WatchChip state={watch.state} level={findWorst(watch)?.level ?? null} />;

/** State with its start, and the open incident, if any. */
const State = ({ watch, incidents }: { watch: Watch; incidents: ActiveIncidents }) => {
  const { name, since, state } = watch;
  const incident = findIncident(incidents, `watch/${name}`);
  return (
    <>
      {since && state !== 'paused' && <Since time={since} />}
      {since && state !== 'paused' && incident && ' · '}
      <IncidentLink incident={incident} />
    </>
  );
};

const Line = ({ watch }: { watch: Watch }) => {
  const worst = findWorst(watch);
  return worst && watch.state !== 'paused' ? <RecentLine settings={watch.settings} thing={worst} /> : null;
};

const createColumns = (incidents: ActiveIncidents): Column<Watch>[] => [
  { key: 'state', title: words.state, width: '9.25rem', cell: (watch) => <Chip watch={watch} /> },
  {
    key: 'watch',
    title: words.watch,
    cell: (watch) => (
      <TwoLines title={<Name watch={watch} />} hint={<bdi title={toWhat(watch)}>{toWhat(watch)}</bdi>} />
    ),
  },
  {
    key: 'now',
    title: words.now,
    width: 'clamp(14rem, 34vw, 44rem)',
    cell: (watch) => (
      <TwoLines
        title={<bdi title={toReading(watch)}>{toReading(watch)}</bdi>}
        hint={<State watch={watch} incidents={incidents} />}
      />
    ),
  },
  { key: 'hours', title: words.hours, width: 'clamp(7rem, 12vw, 15rem)', cell: (watch) => <Line watch={watch} /> },
];

const toCompact = (incidents: ActiveIncidents) => (watch: Watch) => (
  <div class="two-lines">
    <div>
      <span class="one-line strong">
        <Name watch={watch} />
      </span>
      <Chip watch={watch} />
    </div>
    <span class="two-line">
      <bdi>{toReading(watch)}</bdi>
    </span>
    <span class="one-line hint">
      <bdi>{toWhat(watch)}</bdi>
    </span>
    <span class="one-line hint">
      <State watch={watch} incidents={incidents} />
    </span>
    <Line watch={watch} />
  </div>
);

/** Table of watches with their last readings. Paused watches are dimmed. */
export const WatchTable = ({ rows, incidents }: { rows: readonly Watch[]; incidents: ActiveIncidents }) => (
  <Table
    label={text.titles.watches}
    columns={createColumns(incidents)}
    rows={rows}
    rowKey={({ name }) => name}
    heights={[72, 164]}
    compact={toCompact(incidents)}
    rowClass={({ state }) => (state === 'paused' ? 'over' : '')}
  />
);
