import type { AlertEntry } from 'signalbox/client';
import { toCount, toTime } from '../format.ts';
import { toAlertLine, toTimeOf } from '../live/alerts.ts';
import type { Folded } from '../live/fold.ts';
import { place, toHash } from '../router.ts';
import { text } from '../strings/index.ts';
import { HostName, Origin } from '../ui/host-name.tsx';
import { AlertChip, AlertStateChip, SeverityChip, toState } from '../ui/severity.tsx';
import { type Column, Table } from '../ui/table.tsx';

const words = text.alerts;

const Time = ({ alert }: { alert: AlertEntry }) => (
  <time dateTime={alert.time ?? alert.timestamp}>{toTime(toTimeOf(alert))}</time>
);

const Message = ({ alert, count }: Pick<Folded, 'alert' | 'count'>) => (
  <>
    {count > 1 && (
      <a
        class="count"
        href={toHash('/alerts', { ...place.value.params, q: alert.message, source: alert.source, fold: 'off' })}
        aria-label={words.repeats(toCount(count))}
        title={words.repeats(toCount(count))}
      >
        ×{toCount(count)}
      </a>
    )}
    <AlertLink alert={alert} />
  </>
);

const AlertLink = ({ alert }: { alert: AlertEntry }) => {
  const message = <bdi>{toAlertLine(alert)}</bdi>;
  if (alert.id === '') return <span title={alert.message}>{message}</span>;
  return <a href={toHash(`/alerts/${alert.id}`, place.value.params)}>{message}</a>;
};

const columns: Column<Folded>[] = [
  { key: 'time', title: words.time, width: '8.75rem', cell: ({ alert }) => <Time alert={alert} /> },
  {
    key: 'severity',
    title: words.severity,
    width: '7rem',
    cell: ({ alert }) =>
      alert.status !== 'resolved' && <SeverityChip severity={alert.severity} isQuiet={toState(alert) === 'resolved'} />,
  },
  { key: 'state', title: words.state, width: '7rem', cell: ({ alert }) => <AlertStateChip alert={alert} /> },
  { key: 'message', title: words.message, cell: (row) => <Message {...row} /> },
  {
    key: 'source',
    title: words.source,
    width: 'clamp(6rem, 9vw, 14rem)',
    cell: ({ alert }) => <bdi>{alert.source}</bdi>,
  },
  {
    key: 'host',
    title: words.host,
    width: 'clamp(5rem, 9vw, 9rem)',
    cell: ({ alert }) => <HostName hostname={alert.hostname} />,
  },
];

const toCompact = ({ alert, count }: Folded) => (
  <div class="two-lines">
    <span class="two-line">
      <Message alert={alert} count={count} />
    </span>
    <div>
      <AlertChip alert={alert} />
      <span class="hint one-line">
        <Time alert={alert} /> · <Origin source={alert.source} hostname={alert.hostname} />
      </span>
    </div>
  </div>
);

/** Table of alerts. Alerts above `seenUpTo` arrived after the table was opened. */
export const AlertTable = ({ rows, seenUpTo }: { rows: readonly Folded[]; seenUpTo: number }) => (
  <Table
    label={text.titles.alerts}
    columns={columns}
    rows={rows}
    rowKey={({ row }) => row}
    compact={toCompact}
    heights={[34, 84]}
    rowClass={({ alert }) => `${alert.seq > seenUpTo ? 'fresh' : ''} ${toState(alert) === 'resolved' ? 'over' : ''}`}
  />
);
