import { type ApiError, send } from '../api.ts';
import { type AlertDetails, type AlertEntry, getAlert, readAlerts, toLine, toTimeOf } from '../calls/alerts.ts';
import { untilTime } from '../clock.ts';
import { toCount, toFull, toRelative, toTime } from '../format.ts';
import { useResource } from '../live/resource.ts';
import { goTo, place, toHash } from '../router.ts';
import { text } from '../strings/index.ts';
import { Chip } from '../ui/chip.tsx';
import { CopyButton } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Facts } from '../ui/facts.tsx';
import { Icon } from '../ui/icon.tsx';
import { LevelChip, mostInChip } from '../ui/level.tsx';
import { LongText } from '../ui/long-text.tsx';
import { Empty, Failure, Skeleton } from '../ui/panel.tsx';

const words = text.alerts;
/** Alerts shown before and after the one that is open. */
const around = 5;

/** One alert with everything about it, over the list. */
export const AlertDialog = ({ id }: { id: string }) => {
  const close = () => goTo('/alerts', place.value.params);
  return (
    <Dialog title={words.details} kind="drawer" onClose={close}>
      <Loaded key={id} id={id} />
    </Dialog>
  );
};

const Loaded = ({ id }: { id: string }) => {
  const { value, error, reload } = useResource((signal) => send(getAlert, { params: { id }, signal }));
  if (value) return <Details alert={value} />;
  return error ? <Missing error={error} onRetry={reload} /> : <Skeleton lines={10} />;
};

const Missing = ({ error, onRetry }: { error: ApiError; onRetry: () => void }) =>
  error.status === 404 ? (
    <Empty title={words.missing} hint={words.missingHint} />
  ) : (
    <Failure error={error} onRetry={onRetry} />
  );

const Details = ({ alert }: { alert: AlertDetails }) => {
  const time = toTimeOf(alert);
  const { labels, link, deliveries = [] } = alert;
  return (
    <article class="alert">
      <p class="alert-head">
        <LevelChip level={alert.level} />
        {alert.status && <Chip tone={alert.status === 'resolved' ? 'good' : 'quiet'}>{alert.status}</Chip>}
        <time dateTime={alert.time ?? ''}>{toFull(time)}</time>
        <span class="hint">{toRelative(untilTime(time.getTime()))}</span>
      </p>
      <p class="message">
        <LongText value={alert.message || words.noMessage} />
      </p>
      <div class="actions">
        <CopyButton label={words.copyText} value={() => toText(alert)} />
        <CopyButton label={words.copyJson} value={() => JSON.stringify(alert, null, 2)} />
        <CopyButton
          label={words.copyLink}
          icon="link"
          value={() => new URL(toHash(`/alerts/${alert.id}`), location.href).href}
        />
        {link && (
          <a class="button" href={link} target="_blank" rel="noreferrer noopener">
            <Icon name="open" /> {words.link}
          </a>
        )}
      </div>
      <Facts facts={toFacts(alert)} />
      {labels && Object.keys(labels).length > 0 && (
        <>
          <h3>{words.labels}</h3>
          <Facts facts={Object.entries(labels)} />
        </>
      )}
      <h3>{words.deliveries}</h3>
      {deliveries.length === 0 && <p class="hint">{words.noDeliveries}</p>}
      <Facts
        facts={deliveries.map(({ destination, status, attempts, error }) => [
          destination,
          [status, attempts > 1 && `×${toCount(attempts)}`, error].filter(Boolean).join(' · '),
        ])}
      />
      <h3>{words.context}</h3>
      <Context alert={alert} />
    </article>
  );
};

const toFacts = (alert: AlertDetails): [string, string][] => {
  const facts: [string, string | null | undefined][] = [
    [words.level, alert.level.length > mostInChip ? alert.level : undefined],
    [words.source, alert.source],
    [words.host, alert.hostname],
    [words.format, alert.format],
    [words.starts, alert.startsAt && toFull(new Date(alert.startsAt))],
    [words.ends, alert.endsAt && toFull(new Date(alert.endsAt))],
    [words.fingerprint, alert.fingerprint],
    [words.id, alert.id],
    [words.seq, toCount(alert.seq)],
  ];
  return facts.flatMap(([name, value]): [string, string][] => (value ? [[name, value]] : []));
};

/** The alerts that came in just before and after. */
const Context = ({ alert }: { alert: AlertEntry }) => {
  const load = (signal: AbortSignal) =>
    readAlerts({}, { before: alert.seq + around + 1, limit: 2 * around + 1, signal });
  const { value, error, reload } = useResource(load, { key: alert.id });
  if (error && !value) return <Failure error={error} onRetry={reload} />;
  if (!value) return <Skeleton lines={around} />;
  return (
    <ol class="context">
      {value.data.map((each) => (
        <li key={each.seq} aria-current={each.seq === alert.seq ? 'true' : undefined}>
          <time dateTime={each.time ?? ''}>{toTime(toTimeOf(each))}</time>
          <LevelChip level={each.level} />
          <a class="one-line" href={toHash(`/alerts/${each.id}`, place.value.params)}>
            <bdi>{toLine(each)}</bdi>
          </a>
        </li>
      ))}
    </ol>
  );
};

/** The alert as lines of text, for a message or a ticket. */
const toText = ({ time, timestamp, level, source, hostname, message, labels, link }: AlertEntry): string =>
  [
    [time ?? timestamp, level, source, hostname].filter(Boolean).join(' · '),
    message,
    ...Object.entries(labels ?? {}).map(([name, value]) => `${name}: ${value}`),
    ...(link ? [link] : []),
  ].join('\n');
