import type { Incident } from 'signalbox/client';
import { toCount } from '../format.ts';
import { place, toHash } from '../router.ts';
import { text } from '../strings/index.ts';
import { HostName, Origin } from '../ui/host-name.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Ago } from '../ui/time.tsx';
import { CauseLink, IncidentChip, LevelChip, SilencedMark } from './looks.tsx';
import { isSelected, select, toggle } from './selection.ts';

const words = text.incidents;

const Title = ({ incident: { number, title } }: { incident: Incident }) => (
  <a href={toHash(`/incidents/${number}`, place.value.params)} title={title}>
    <span class="incident-number">{words.number(number)}</span> <bdi>{title}</bdi>
  </a>
);

const Select = ({ incident: { id, title } }: { incident: Incident }) => (
  <label class="select">
    <input type="checkbox" aria-label={words.select(title)} checked={isSelected(id)} onChange={() => toggle(id)} />
  </label>
);

const SelectAll = ({ rows }: { rows: readonly Incident[] }) => {
  const isWhole = rows.every(({ id }) => isSelected(id));
  return (
    <label class="select">
      <input
        type="checkbox"
        aria-label={words.selectAll}
        checked={isWhole}
        onChange={() => select(isWhole ? [] : rows.map(({ id }) => id))}
      />
    </label>
  );
};

const createColumns = (rows: readonly Incident[]): Column<Incident>[] => [
  {
    key: 'select',
    title: words.selectAll,
    width: '2.75rem',
    head: <SelectAll rows={rows} />,
    cell: (incident) => <Select incident={incident} />,
  },
  { key: 'level', title: words.severity, width: '7rem', cell: (incident) => <LevelChip incident={incident} /> },
  {
    key: 'title',
    title: words.title,
    cell: (incident) => (
      <span class="two-line">
        <Title incident={incident} /> <CauseLink incident={incident} />
      </span>
    ),
  },
  { key: 'count', title: words.count, width: '4.25rem', align: 'end', cell: ({ count }) => toCount(count) },
  {
    key: 'source',
    title: words.source,
    isMinor: true,
    width: 'clamp(5rem, 20vw - 9rem, 12rem)',
    cell: ({ source }) => <bdi>{source}</bdi>,
  },
  { key: 'host', title: words.host, width: 'clamp(5rem, 7vw, 9rem)', cell: HostName },
  { key: 'since', title: words.since, width: '6.75rem', cell: ({ firstAt }) => <Ago time={firstAt} /> },
  {
    key: 'state',
    title: words.state,
    width: 'clamp(11rem, 14vw, 16rem)',
    cell: (incident) => (
      <span class="incident-state">
        <SilencedMark incident={incident} /> <IncidentChip incident={incident} />
      </span>
    ),
  },
];

const toCompact = (incident: Incident) => (
  <div class="incident-line">
    <Select incident={incident} />
    <div class="two-lines">
      <span class="two-line">
        {incident.count > 1 && <span class="count">×{toCount(incident.count)}</span>}
        <Title incident={incident} /> <CauseLink incident={incident} />
      </span>
      <div class="chips-line">
        <LevelChip incident={incident} />
        <span>
          <SilencedMark incident={incident} /> <IncidentChip incident={incident} />
        </span>
      </div>
      <span class="hint one-line">
        <Ago time={incident.firstAt} /> · <Origin source={incident.source} hostname={incident.hostname} />
      </span>
    </div>
  </div>
);

/** Table of incidents with selection. Resolved incidents are dimmed. */
export const IncidentTable = ({ rows }: { rows: readonly Incident[] }) => (
  <Table
    label={text.titles.incidents}
    columns={createColumns(rows)}
    rows={rows}
    rowKey={({ id }) => id}
    heights={[50, 108]}
    compact={toCompact}
    rowClass={({ state }) => (state === 'resolved' ? 'over' : '')}
  />
);
