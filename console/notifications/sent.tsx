import type { SentNotification, SentNotificationPage } from 'signalbox/client';
import { client } from '../api.ts';
import { toCount } from '../format.ts';
import { readPageCount, showNextPage } from '../list-address.ts';
import { useResource } from '../live/resource.ts';
import { place, setParams, toHash } from '../router.ts';
import { text } from '../strings/index.ts';
import { Choice } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { ListCount } from '../ui/list-head.tsx';
import { More } from '../ui/more.tsx';
import { Empty, Failure, NoMatch, Skeleton } from '../ui/panel.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { At } from '../ui/time.tsx';
import { useDestinations } from './destinations.ts';

const words = text.notifications;

const pageSize = 50;
const mostRows = 1000;
const calm = 1000;

/** Sent incident notifications, newest first. */
export const SentList = () => {
  const { value: all } = useDestinations();
  const names = (all?.data ?? []).flatMap((each) => (each.incidents ? [each.destination] : []));
  const { destination, incident } = place.value.params;
  const query = {
    limit: Math.min(mostRows, readPageCount() * pageSize),
    ...(destination && { destination }),
    ...(incident && { incident }),
  };
  const load = (signal: AbortSignal) => client.listNotifications(query, { signal });
  // Each delivery changes the state of its destination.
  const { value, error, reload } = useResource(load, { key: JSON.stringify(query), topic: 'deliveries', calm });
  if (error && !value) return <Failure error={error} onRetry={reload} />;
  return (
    <div class="list">
      <search class="filters" aria-label={text.filters}>
        <Choice
          label={words.destination}
          value={destination ?? ''}
          options={[
            ['', words.anyDestination],
            ...[...new Set([...names, ...(destination ? [destination] : [])])].map((name): [string, string] => [
              name,
              name,
            ]),
          ]}
          onValue={(name) => setParams({ destination: name, pages: undefined })}
        />
        {incident && (
          <button type="button" onClick={() => setParams({ incident: undefined, pages: undefined })}>
            {words.ofIncident(incident)} <Icon name="close" />
            <span class="unseen">{text.clear}</span>
          </button>
        )}
      </search>
      {value ? <Found page={value} /> : <Skeleton lines={8} />}
    </div>
  );
};

const clear = (): void => setParams({ destination: undefined, incident: undefined, pages: undefined });

const Found = ({ page: { data, next } }: { page: SentNotificationPage }) => {
  const { destination, incident } = place.value.params;
  if (data.length === 0) {
    if (!destination && !incident) return <Empty title={words.sentNone} hint={words.noneHint} />;
    return <NoMatch title={words.sentNoMatch} hint={words.sentNoMatchHint} onClear={clear} />;
  }
  return (
    <>
      <ListCount>{(next === null ? words.sentShown : words.sentShownMore)(toCount(data.length))}</ListCount>
      <Table label={words.sent} columns={columns} rows={data} rowKey={toKey} compact={toCompact} heights={[38, 88]} />
      <More
        label={words.sentOlder}
        isLoading={false}
        isEnd={next === null || data.length >= mostRows}
        onMore={showNextPage}
      />
    </>
  );
};

const toKey = ({ at, destination, incident, what }: SentNotification): string =>
  [at, destination, incident.id, what].join(' ');

const isDelivered = ({ result }: SentNotification): boolean => result === 'delivered';

const IncidentLink = ({ sent: { incident } }: { sent: SentNotification }) => (
  <a href={toHash(`/incidents/${incident.number}`)} title={incident.title}>
    <span class="incident-number">{text.incidents.number(incident.number)}</span> <bdi>{incident.title}</bdi>
  </a>
);

const toKind = ({ what, event }: SentNotification): string =>
  [words.kinds[what], event === 'escalated' && words.escalated].filter(Boolean).join(', ');

const Result = ({ sent }: { sent: SentNotification }) =>
  isDelivered(sent) ? (
    <span class="hint">{words.isDelivered}</span>
  ) : (
    <span class="error" title={sent.result}>
      <bdi>{sent.result}</bdi>
    </span>
  );

const columns: Column<SentNotification>[] = [
  { key: 'time', title: words.time, width: '10rem', cell: ({ at }) => <At time={at} /> },
  {
    key: 'destination',
    title: words.destination,
    width: 'clamp(6rem, 12vw, 14rem)',
    cell: ({ destination }) => <bdi title={destination}>{destination}</bdi>,
  },
  { key: 'kind', title: words.kind, width: 'clamp(7.5rem, 12vw, 12rem)', cell: toKind },
  { key: 'incident', title: words.incident, cell: (sent) => <IncidentLink sent={sent} /> },
  { key: 'result', title: words.result, width: 'clamp(6rem, 16vw, 20rem)', cell: (sent) => <Result sent={sent} /> },
];

const toCompact = (sent: SentNotification) => (
  <div class="two-lines">
    <div>
      <span class="strong">{toKind(sent)}</span>
      <span class="hint one-line">
        <At time={sent.at} /> · <bdi>{sent.destination}</bdi>
      </span>
    </div>
    <span class="one-line">
      <IncidentLink sent={sent} />
    </span>
    <span class="one-line">
      <Result sent={sent} />
    </span>
  </div>
);
