import type { Incident, Silence } from 'signalbox/client';
import { toPerson } from '../../src/kit/people.ts';
import { toCount } from '../format.ts';
import { describeMatch, describeWhen, toPresentState, toWhen } from '../live/silences.ts';
import { place, toHash } from '../router.ts';
import { text } from '../strings/index.ts';
import { Chip, type Look } from '../ui/chip.tsx';
import { type Column, Table, TwoLines } from '../ui/table.tsx';

const words = text.silences;

/** Open incidents covered by each silence, by silence id. Undefined for users without access. */
export type Covered = ReadonlyMap<string, readonly Incident[]> | undefined;

const looks: Record<Silence['state'], Look> = {
  active: { tone: 'info', icon: 'silences' },
  pending: { tone: 'quiet', icon: 'clock' },
  expired: { tone: 'quiet', icon: 'check' },
};

export const SilenceChip = ({ silence }: { silence: Silence }) => {
  const state = toPresentState(silence);
  return <Chip {...looks[state]}>{words.states[state]}</Chip>;
};

const What = ({ silence }: { silence: Silence }) => {
  const what = describeMatch(silence);
  return (
    <a href={toHash(`/silences/${silence.id}`, place.value.params)} title={what}>
      <bdi>{what}</bdi>
    </a>
  );
};

const createColumns = (covered: Covered): Column<Silence>[] => [
  { key: 'state', title: words.state, width: '8rem', cell: (silence) => <SilenceChip silence={silence} /> },
  {
    key: 'what',
    title: words.what,
    cell: (silence) => <TwoLines title={<What silence={silence} />} hint={<bdi>{silence.comment}</bdi>} />,
  },
  { key: 'when', title: words.when, width: 'clamp(14rem, 30vw, 34rem)', cell: (silence) => <When silence={silence} /> },
  {
    key: 'covers',
    title: words.covers,
    width: '5.75rem',
    align: 'end',
    cell: ({ id }) => covered && toCount(covered.get(id)?.length ?? 0),
  },
  {
    key: 'by',
    title: words.by,
    isMinor: true,
    width: 'clamp(5rem, 8vw, 10rem)',
    cell: ({ createdBy }) => <bdi>{toPerson(createdBy)}</bdi>,
  },
];

const When = ({ silence }: { silence: Silence }) => {
  const [when, more] = toWhen(silence);
  return <TwoLines title={<span title={when}>{when}</span>} hint={more} />;
};

const toCompact = (covered: Covered) => (silence: Silence) => {
  const count = covered?.get(silence.id)?.length ?? 0;
  return (
    <div class="two-lines">
      <span class="two-line">
        <What silence={silence} />
      </span>
      <div>
        <SilenceChip silence={silence} />
        <span class="hint one-line">
          <bdi>{toPerson(silence.createdBy)}</bdi>
          {count > 0 && ` · ${words.covered(toCount(count))}`}
        </span>
      </div>
      <span class="two-line hint">{describeWhen(silence)}</span>
    </div>
  );
};

/** Table of silences. Past silences are dimmed. */
export const SilenceTable = ({ rows, covered }: { rows: readonly Silence[]; covered: Covered }) => (
  <Table
    label={text.titles.silences}
    columns={createColumns(covered)}
    rows={rows}
    rowKey={({ id }) => id}
    heights={[72, 120]}
    compact={toCompact(covered)}
    rowClass={({ state }) => (state === 'expired' ? 'over' : '')}
  />
);
