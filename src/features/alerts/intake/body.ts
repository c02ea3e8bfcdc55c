import type { FastifyRequest } from 'fastify';
import { parseJsonBody, readMediaType } from '../../../http/body.ts';
import { HttpError } from '../../../http/errors.ts';
import type { ForeignAlert, Format, IntakeRequest } from './format.ts';
import { alertmanagerFormat } from './formats/alertmanager.ts';
import { cloudevents } from './formats/cloudevents.ts';
import { grafana } from './formats/grafana.ts';
import { otlp } from './formats/otlp.ts';
import { pagerduty } from './formats/pagerduty.ts';
import { prometheus } from './formats/prometheus.ts';
import { slackFormat } from './formats/slack.ts';
import { uptimeKuma } from './formats/uptime-kuma.ts';

/** Built-in formats, one per file in `formats/`. */
export const formats: readonly Format[] = [
  alertmanagerFormat,
  prometheus,
  grafana,
  uptimeKuma,
  cloudevents,
  slackFormat,
  pagerduty,
  otlp,
];

export const toIntakeRequest = ({ body, headers, raw, server }: FastifyRequest): IntakeRequest => ({
  bytes: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
  headers,
  contentType: readMediaType(raw),
  parseJson: (bytes) => parseJsonBody(server, bytes),
});

/**
 * Parses a body in the given format, or by default in the format that recognizes the body. Does not validate. Throws an
 * HttpError if the body cannot be parsed.
 */
export const readBody = (request: IntakeRequest, format?: Format): { format: Format; value: unknown } => {
  const { bytes, contentType } = request;
  for (const each of format ? [format] : formats) {
    const value = each.decode?.(request);
    if (value !== undefined) return { format: each, value };
  }
  if (contentType !== undefined && !jsonTypes.test(contentType)) {
    throw new HttpError('unsupported-media-type', `Request body must be JSON, not ${JSON.stringify(contentType)}`);
  }
  if (bytes.length === 0) throw new HttpError('invalid', 'Request body is required');
  const value = request.parseJson(bytes);
  return { format: format ?? recognize(value), value };
};

/** JSON media types, and the default media types of curl and browsers. */
const jsonTypes =
  /^(?:(?:application|text)\/json|[\w.-]+\/[\w.-]+\+json|text\/plain|application\/x-www-form-urlencoded)$/;

/** Returns the format that recognizes the value. Throws an HttpError that lists the formats unless exactly one does. */
const recognize = (value: unknown): Format => {
  const found = formats.filter((format) => format.recognizes(value));
  const [format, ...others] = found;
  if (format && others.length === 0) return format;
  const names = (format ? found : formats).map(({ name }) => name).join(', ');
  throw new HttpError(
    'invalid',
    `Request body matches ${format ? 'several formats' : 'none of the formats'}: ${names}`,
  );
};

/** Maximum number of alerts in one body. */
const maxAlerts = 1000;

/**
 * Collects the alerts in a body. Throws an HttpError if there are more than the maximum: an 8 MiB body can hold a
 * million.
 */
export const collectAlerts = (alerts: Iterable<ForeignAlert>): ForeignAlert[] => {
  const collected: ForeignAlert[] = [];
  for (const alert of alerts) {
    if (collected.push(alert) > maxAlerts)
      throw new HttpError('too-large', `Request body must have at most ${maxAlerts} alerts`);
  }
  return collected;
};
