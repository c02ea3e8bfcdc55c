import { type DeliveredAlert, type DestinationType, jsonType, toBearer, toPathWith, toTitle } from './type.ts';

/**
 * How long after its receipt an alert counts as firing unless it is resolved before. Repeats are not delivered for 24
 * hours, and Alertmanager would otherwise resolve it after five minutes.
 */
const firingMs = 25 * 60 * 60 * 1000;

/** Alertmanager, API version 2: `url` is the server's. The labels decide which alert it is. */
export const alertmanagerDestination: DestinationType = {
  name: 'alertmanager',
  secret: 'optional',
  secretHeader: 'authorization',
  toRequest: (alert, { url, secrets }) => ({
    path: toPathWith(url, '/api/v2/alerts'),
    headers: { ...jsonType, ...toBearer(secrets) },
    body: JSON.stringify([toAlert(alert)]),
  }),
};

const toAlert = (alert: DeliveredAlert): object => {
  const { link, links = {}, details, via } = alert;
  return {
    labels: toLabels(alert),
    annotations: {
      summary: alert.message || toTitle(alert),
      ...(details !== undefined && { description: details }),
      ...Object.fromEntries(Object.entries(links).map(([name, url]) => [toLabelName(`${name}_url`), url])),
      via,
    },
    startsAt: toStart(alert),
    ...toEnd(alert),
    ...(link !== undefined && { generatorURL: link }),
  };
};

const toStart = ({ startsAt, time }: DeliveredAlert): string => startsAt ?? time;

/** An alert without a status has no end: Alertmanager resolves it in its own time. */
const toEnd = (alert: DeliveredAlert): { endsAt?: string } => {
  const { status, time, endsAt = time } = alert;
  if (status === 'firing') return { endsAt: new Date(Date.parse(time) + firingMs).toISOString() };
  if (status === undefined) return {};
  // Alertmanager refuses an end before the start.
  const start = toStart(alert);
  return { endsAt: Date.parse(endsAt) < Date.parse(start) ? start : endsAt };
};

/** The sender's labels, which a resolved alert repeats; labels made of the four fields if there are none. */
const toLabels = ({ labels = {}, source, level, hostname }: DeliveredAlert): Record<string, string> => {
  const given = Object.entries(labels).map(([name, value]) => [toLabelName(name), value]);
  const own = given.length > 0 ? given : Object.entries({ severity: level.toLowerCase(), instance: hostname });
  return Object.fromEntries([['alertname', source || 'signalbox'], ...own].filter(([, value]) => value !== ''));
};

/** Alertmanager before 0.27 refuses other characters. */
const toLabelName = (name: string): string => name.replaceAll(/[^a-zA-Z0-9_]/g, '_').replace(/^(?=\d)/, '_');
