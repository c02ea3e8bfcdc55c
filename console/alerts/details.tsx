import type { AlertDetails, AlertEntry } from 'signalbox/client';
import { client } from '../api.ts';
import { untilTime } from '../clock.ts';
import { toCount, toFull, toRelative, toTime } from '../format.ts';
import { toAlertLine, toTimeOf } from '../live/alerts.ts';
import { useResource } from '../live/resource.ts';
import { goTo, place, toHash } from '../router.ts';
import { isReadable } from '../routes.ts';
import { text } from '../strings/index.ts';
import { CopyButton, CopyLink } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { type Fact, Facts } from '../ui/facts.tsx';
import { HostName } from '../ui/host-name.tsx';
import { IconLink } from '../ui/icon-button.tsx';
import { LongText } from '../ui/long-text.tsx';
import { Unloaded } from '../ui/panel.tsx';
import { AlertChip, AlertStateChip, SeverityChip, toState } from '../ui/severity.tsx';
import { SilenceLink } from '../ui/silence-link.tsx';

const words = text.alerts;
/** Number of alerts shown before and after the opened alert. */
const around = 5;
/** Maximum number of the incident's latest notifications to show. */
const listedNotifications = 10;

/** Dialog with all fields of an alert. */
export const AlertDialog = ({ id }: { id: string }) => {
  const close = () => goTo('/alerts', place.value.params);
  return (
    <Dialog title={words.details} kind="drawer" onClose={close}>
      <Loaded key={id} id={id} />
    </Dialog>
  );
};

const Loaded = ({ id }: { id: string }) => {
  const { value, error, reload } = useResource((signal) => client.getAlert({ id }, { signal }));
  if (value) return <Details alert={value} />;
  return <Unloaded error={error} reload={reload} words={words} lines={10} />;
};

const Details = ({ alert }: { alert: AlertDetails }) => {
  const time = toTimeOf(alert);
  const { labels, deliveries = [] } = alert;
  return (
    <article class="alert">
      <p class="alert-head">
        {alert.status !== 'resolved' && (
          <SeverityChip severity={alert.severity} isQuiet={toState(alert) === 'resolved'} />
        )}
        <AlertStateChip alert={alert} />
        <time dateTime={alert.time ?? ''}>{toFull(time)}</time>
        <span class="hint">{toRelative(untilTime(time.getTime()))}</span>
      </p>
      <p class="message">
        <LongText value={alert.message || words.noMessage} />
      </p>
      <Series alert={alert} />
      {alert.details && (
        <p>
          <LongText value={alert.details} />
        </p>
      )}
      <div class="actions">
        <CopyButton label={words.copyText} value={() => toText(alert)} />
        <CopyButton label={words.copyJson} value={() => JSON.stringify(alert, null, 2)} />
        <CopyLink path={`/alerts/${alert.id}`} />
        <SilenceLink source={alert.source} hostname={alert.hostname} message={alert.message} />
        {listLinks(alert).map(([name, url]) => (
          <IconLink key={name} icon="open" label={<bdi>{name}</bdi>} href={url} isExternal />
        ))}
      </div>
      <Facts facts={toFacts(alert)} />
      {labels && Object.keys(labels).length > 0 && (
        <>
          <h3>{words.labels}</h3>
          <Facts facts={Object.entries(labels)} />
        </>
      )}
      <h3>{words.deliveries}</h3>
      {alert.incident ? (
        <NotifiedBy incident={alert.incident.number} isAlone={deliveries.length === 0} />
      ) : (
        deliveries.length === 0 && <p class="hint">{words.noDeliveries}</p>
      )}
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

/** Destinations that were notified of the alert's incident. */
const NotifiedBy = ({ incident, isAlone }: { incident: number; isAlone: boolean }) => {
  const load = async (signal: AbortSignal) =>
    isReadable('listNotifications')
      ? client.listNotifications({ incident: String(incident), limit: listedNotifications }, { signal })
      : undefined;
  const { value, error, reload } = useResource(load, { key: `${incident}`, topic: 'incidents' });
  if (!value) return error ? <Unloaded error={error} reload={reload} lines={1} /> : null;
  if (value.data.length === 0) return isAlone ? <p class="hint">{words.noDeliveries}</p> : null;
  return (
    <>
      <p>
        <a href={toHash(`/incidents/${incident}`)}>{words.notifiedBy(incident)}</a>
      </p>
      <Facts
        facts={value.data.map(({ destination, what, at, result }) => [
          destination,
          [
            text.notifications.notified(text.notifications.kinds[what], toTime(Date.parse(at))),
            result !== 'delivered' && result,
          ]
            .filter(Boolean)
            .join(' · '),
        ])}
      />
    </>
  );
};

/** Links to the sender's page and to further pages given in the alert. */
const listLinks = ({ link, links }: AlertDetails): [name: string, url: string][] =>
  [...(link ? [[words.link, link] as const] : []), ...Object.entries(links ?? {})]
    .filter(([, url]) => /^https?:/i.test(url))
    .map(([name, url]) => [name, url]);

/** Related alerts, such as the resolution and the first alert, and the incident. */
const Series = ({ alert: { resolvedBy, resolves, repeatOf, incident } }: { alert: AlertDetails }) => {
  const to = (id: string) => toHash(`/alerts/${id}`, place.value.params);
  if (!resolvedBy && !resolves && !repeatOf && !incident) return null;
  return (
    <p class="series">
      {incident && <a href={toHash(`/incidents/${incident.number}`)}>{text.incidents.partOf(incident.number)}</a>}
      {resolvedBy && <a href={to(resolvedBy.id)}>{words.resolvedAt(toTime(Date.parse(resolvedBy.time)))}</a>}
      {resolves && (
        <>
          {words.resolves} <a href={to(resolves)}>{words.theFiring}</a>
        </>
      )}
      {repeatOf && (
        <>
          {words.repeat} <a href={to(repeatOf)}>{words.theFirst}</a>
        </>
      )}
    </p>
  );
};

const toFacts = (alert: AlertDetails): Fact[] => {
  const facts: Fact[] = [
    [words.level, alert.level.toUpperCase() === alert.severity ? undefined : alert.level],
    [words.source, alert.source],
    [words.host, alert.hostname && <HostName hostname={alert.hostname} />],
    [words.format, alert.format],
    [words.sender, alert.sender],
    [words.starts, alert.startsAt && toFull(new Date(alert.startsAt))],
    [words.ends, alert.endsAt && toFull(new Date(alert.endsAt))],
    [words.fingerprint, alert.fingerprint],
    [words.id, alert.id],
    [words.seq, toCount(alert.seq)],
  ];
  return facts.map(([name, value]) => [name, value || null]);
};

/** Alerts received just before and just after the opened alert. */
const Context = ({ alert }: { alert: AlertEntry }) => {
  const load = (signal: AbortSignal) =>
    client.searchAlerts({ before: alert.seq + around + 1, limit: 2 * around + 1 }, { signal });
  const { value, error, reload } = useResource(load, { key: alert.id });
  if (!value) return <Unloaded error={error} reload={reload} lines={around} />;
  return (
    <ol class="context">
      {value.data.map((each) => (
        <li key={each.seq} aria-current={each.seq === alert.seq ? 'true' : undefined}>
          <time dateTime={each.time ?? ''}>{toTime(toTimeOf(each))}</time>
          <AlertChip alert={each} />
          <a class="one-line" href={toHash(`/alerts/${each.id}`, place.value.params)}>
            <bdi>{toAlertLine(each)}</bdi>
          </a>
        </li>
      ))}
    </ol>
  );
};

/** Formats an alert as plain text, for a message or a ticket. */
const toText = ({ time, timestamp, level, source, hostname, message, labels, link }: AlertEntry): string =>
  [
    [time ?? timestamp, level, source, hostname].filter(Boolean).join(' · '),
    message,
    ...Object.entries(labels ?? {}).map(([name, value]) => `${name}: ${value}`),
    ...(link ? [link] : []),
  ].join('\n');
