import { isUtf8 } from 'node:buffer';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { openFor } from '../../../auth/access.ts';
import type { IdentifySender } from '../../../auth/guard.ts';
import { readMediaType } from '../../../http/body.ts';
import { ErrorBody, HttpError, toHttpError } from '../../../http/errors.ts';
import { sendJson, whenReady } from '../../../http/json.ts';
import { idempotencyKeyHeader, readIdempotencyKey } from '../../../http/text-forms.ts';
import { defineRoute, type Route } from '../../../kit/route.ts';
import { severities, toSeverity } from '../../../kit/severity.ts';
import { KeyRefusal } from '../../../lib/expected-errors.ts';
import type { Meters } from '../../../metrics/meters.ts';
import { JournalError } from '../../../storage/journal/errors.ts';
import { createForeignAlert, createNativeAlert, isEmpty } from '../alert.ts';
import type { AlertStore } from '../log/alert-store.ts';
import { AlertBody, AlertReceipt } from '../schema.ts';
import { assertFits, assertSigned, formats, readBody, takeAlerts, toIncoming } from './body.ts';
import { type FormatKeeper, FormatParams } from './custom/kind.ts';
import { readForm } from './form.ts';
import { type Format, formType, IntakeReceipt, plainTextName } from './format.ts';
import { otlp } from './formats/otlp.ts';
import { prometheus } from './formats/prometheus.ts';

export interface IntakeParts {
  store: AlertStore;
  counts: AlertMeters;
  clock: () => Date;
  identifySender: IdentifySender;
  /** Secrets by format, whose senders then have to sign. */
  secrets: Readonly<Record<string, string | undefined>>;
}

type AlertMeters = ReturnType<typeof createAlertMeters>;

/** Counts alerts for /metrics and the history, by severity: a level may be any text. */
export const createAlertMeters = ({ counter }: Meters) => {
  const received = counter('signalbox_alerts_received_total', 'Alerts stored.', ['format', 'level']);
  const invalid = counter('signalbox_alerts_invalid_total', 'Requests refused because of their body.', ['format']);
  const repeated = counter(
    'signalbox_alerts_repeated_total',
    'Alerts not stored because they were before.',
    ['format'],
    ['native'],
  );
  for (const severity of severities) received.at('native', severity.toLowerCase());
  return {
    addReceived: (format: string, level: string): void => {
      received.at(format, toSeverity(level).toLowerCase()).value += 1;
    },
    /** Alerts stored so far, by severity in lower case. */
    countReceived: (): Record<string, number> => {
      const sums: Record<string, number> = {};
      for (const [[, level = ''], { value }] of received.entries()) sums[level] = (sums[level] ?? 0) + value;
      return sums;
    },
    addRepeated: (format: string, count: number): void => {
      repeated.at(format).value += count;
    },
    /** Sends what a route refuses, and counts bodies among it. */
    createErrorHandler: (format: string, binary?: Format['binary']) => {
      // Prometheus sees an increase only of a counter that was there before.
      const refused = invalid.at(format);
      return createRefusing(() => refused, binary);
    },
    /** The same for a route of several formats; none is counted of what is no format. */
    createCustomErrorHandler: (findName: (request: FastifyRequest) => string | undefined) =>
      createRefusing((request) => {
        const format = findName(request);
        return format === undefined ? undefined : invalid.at(format);
      }),
  };
};

/** Whether the sender expects no JSON. */
const isBinary = ({ raw }: FastifyRequest, binary: Format['binary']): binary is NonNullable<Format['binary']> =>
  binary !== undefined && readMediaType(raw) === binary.mediaType;

const createRefusing =
  (findCounter: (request: FastifyRequest) => { value: number } | undefined, binary?: Format['binary']) =>
  (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const refusal = toRefusal(error);
    const status = toHttpError(refusal)?.status;
    const refused = status === 400 || status === 413 ? findCounter(request) : undefined;
    if (refused) refused.value += 1;
    const known = isBinary(request, binary) ? toHttpError(refusal) : undefined;
    reply.send(binary && known ? known.writtenAs(binary.mediaType, binary.writeError(known.message)) : refusal);
  };

/** The response to alerts that were not stored; other errors than those of the intake stay as they are. */
const toRefusal = (error: unknown): unknown => {
  if (error instanceof KeyRefusal) {
    return new HttpError('unprocessable', 'This Idempotency-Key was used for another alert');
  }
  if (!(error instanceof JournalError)) return error;
  const kind = error.code === 'too-large' ? 'too-large' : 'unavailable';
  return new HttpError(kind, `The alert was not stored: ${error.message}`, { headers: { 'retry-after': '1' } });
};

/** The contract's route for one alert. */
export const createNativeRoute = (parts: IntakeParts): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/alert',
    ...openFor('alerts:write'),
    isSpecified: true,
    summary: 'Store an alert; responds once it is on disk',
    compressedBody: true,
    readOther: readForm,
    headers: { request: idempotencyKeyHeader },
    schema: {
      operationId: 'createAlert',
      consumes: ['application/json', formType],
      body: AlertBody,
      response: { 200: AlertReceipt, 415: ErrorBody, 422: ErrorBody },
    },
    errorHandler: parts.counts.createErrorHandler('native'),
    handler: (request, reply) => storeNative(parts, request, reply, request.body),
  });

/** Fields of an alert whose message is the body. */
const { message: _message, labels: _labels, ...textFields } = AlertBody.properties;
const TextQuery = Type.Object(textFields);

/** The same alert for programs that can send nothing but a text: the body is the message. */
export const createTextRoute = (parts: IntakeParts): Route =>
  defineRoute({
    method: 'POST',
    path: `/api/alert/${plainTextName}`,
    ...openFor('alerts:write'),
    summary: 'Store a plain text as an alert; responds once it is on disk',
    body: 'bytes',
    compressedBody: true,
    headers: { request: idempotencyKeyHeader },
    schema: {
      operationId: 'createAlertFromText',
      querystring: TextQuery,
      consumes: ['text/plain'],
      body: Type.String({ examples: ['Disk 3 of nas-1 has failed'] }),
      response: { 200: AlertReceipt, 415: ErrorBody, 422: ErrorBody },
    },
    errorHandler: parts.counts.createErrorHandler('native'),
    // All of it is texts.
    validatorCompiler: () => () => true,
    handler: (request, reply) => {
      const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      if (!isUtf8(bytes)) throw new HttpError('invalid', 'The body must be text in UTF-8');
      const message = bytes.toString('utf8').trim();
      if (message === '') throw new HttpError('invalid', 'The body must be the text of the alert');
      return storeNative(parts, request, reply, { ...request.query, message });
    },
  });

const storeNative = (
  { store, counts, clock, identifySender }: IntakeParts,
  request: FastifyRequest,
  reply: FastifyReply,
  body: AlertBody,
) => {
  const { headers } = request;
  if (isEmpty(body)) {
    throw new HttpError('invalid', 'At least one of source, level, message, hostname must be given');
  }
  const key = readIdempotencyKey(headers);
  const record = createNativeAlert(body, { now: clock(), sender: identifySender(request) }, headers);
  const stored = key === undefined ? store.append(record) : store.appendOnce(record, key);
  return whenReady(reply, stored, ({ id, isRepeat }) => {
    if (isRepeat) counts.addRepeated('native', 1);
    else counts.addReceived('native', record.level);
    sendJson(reply, { received: true, id });
  });
};

/** A route for each format, one for any of them, and one where Prometheus insists on its path. */
export const createFormatRoutes = (parts: IntakeParts): Route[] => [
  ...formats.map((format) => createFormatRoute(parts, `/api/alert/${format.name}`, toOperationId(format.name), format)),
  createFormatRoute(parts, '/api/v2/alerts', 'pushAlerts', prometheus),
  // Programs add this path to OTEL_EXPORTER_OTLP_ENDPOINT, and send all that they log.
  createFormatRoute(parts, '/v1/logs', 'pushLogs', otlp, true),
  createFormatRoute(parts, '/api/alert/auto', 'createAlertsFromAny'),
];

/** `uptime-kuma` → `createAlertsFromUptimeKuma`. */
const toOperationId = (name: string): string =>
  `createAlertsFrom${name.replaceAll(/(?:^|-)([a-z])/g, (_match, letter: string) => letter.toUpperCase())}`;

/** Without an `expected` format, each is recognized by its marks. `leavesOutInfo`: alerts of level INFO are not stored. */
const createFormatRoute = (
  parts: IntakeParts,
  path: string,
  operationId: string,
  expected?: Format,
  leavesOutInfo = false,
): Route => {
  const { counts, secrets } = parts;
  const accepted = expected ? [expected] : formats;
  const mustSign = accepted.some(({ name, signature }) => signature && secrets[name] !== undefined);
  const answer = expected?.answer;
  return defineRoute({
    method: 'POST',
    path,
    ...openFor('alerts:write'),
    summary: expected?.summary ?? 'Store alerts of any of these formats, recognized by their marks',
    body: 'bytes',
    largeBody: true,
    compressedBody: true,
    errorHandler: counts.createErrorHandler(expected?.name ?? 'auto', expected?.binary),
    schema: {
      operationId,
      consumes: ['application/json', ...accepted.flatMap(({ mediaTypes = [] }) => mediaTypes)],
      body: expected?.schema ?? Type.Unknown({ examples: [{ text: 'The disk of web-1 is full' }] }),
      response: {
        [answer?.status ?? 200]: answer?.schema ?? IntakeReceipt,
        ...(mustSign && { 401: ErrorBody }),
        415: ErrorBody,
      },
    },
    // Bodies are checked here: only then is it known what they are.
    validatorCompiler: () => () => true,
    handler: (request, reply) => storeAlerts(parts, request, reply, expected, leavesOutInfo),
  });
};

/** One route for all formats of the config file and those made at run time; the paths of others come before it. */
export const createCustomRoute = (parts: IntakeParts, keeper: FormatKeeper): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/alert/:intakeFormat',
    ...openFor('alerts:write'),
    summary: 'Store alerts in a format of your own',
    body: 'bytes',
    largeBody: true,
    compressedBody: true,
    errorHandler: parts.counts.createCustomErrorHandler(
      ({ params }) => keeper.find((params as Static<typeof FormatParams>).intakeFormat)?.name,
    ),
    schema: {
      operationId: 'createAlertsFromCustom',
      params: FormatParams,
      consumes: ['application/json'],
      body: Type.Object({}, { additionalProperties: true, examples: [{ text: 'The build failed' }] }),
      response: { 200: IntakeReceipt, 404: ErrorBody, 415: ErrorBody },
    },
    validatorCompiler: () => () => true,
    handler: (request, reply) => storeAlerts(parts, request, reply, keeper.require(request.params.intakeFormat).format),
  });

const storeAlerts = (
  parts: IntakeParts,
  request: FastifyRequest,
  reply: FastifyReply,
  expected?: Format,
  leavesOutInfo = false,
) => {
  const { store, counts } = parts;
  const { format, alerts, records, leftOut } = readAlerts(parts, request, expected, leavesOutInfo);
  const answer = expected?.answer;
  return whenReady(reply, store.appendNew(records), ({ ids, repeated, fresh }) => {
    for (const { level } of fresh) counts.addReceived(format.name, level);
    counts.addRepeated(format.name, repeated);
    if (answer) {
      const created = answer.create({ ids, leftOut, fingerprints: alerts.map(({ fingerprint = '' }) => fingerprint) });
      const { binary } = format;
      reply.code(answer.status);
      if (isBinary(request, binary)) reply.type(binary.mediaType).send(binary.write(created));
      else sendJson(reply, created);
    } else sendJson(reply, { received: true, ids, repeated });
  });
};

/** The records of the alerts in a request. Throws an HttpError for a body without any. */
const readAlerts = (
  { secrets, clock, identifySender }: IntakeParts,
  request: FastifyRequest,
  expected: Format | undefined,
  leavesOutInfo: boolean,
) => {
  const incoming = toIncoming(request);
  const now = clock();
  const { format, value: body } = readBody(incoming, expected);
  const secret = secrets[format.name];
  if (format.signature && secret !== undefined) assertSigned(secret, format.signature, incoming, now);
  assertFits(format.schema, body);
  let leftOut = 0;
  const listKept = function* () {
    for (const alert of format.readAlerts(body as never, now)) {
      if (leavesOutInfo && alert.level === 'INFO') leftOut += 1;
      else yield alert;
    }
  };
  const alerts = takeAlerts(listKept());
  const receipt = { now, sender: identifySender(request) };
  const records = alerts.map((alert) => createForeignAlert(format.name, alert, receipt, request.headers));
  return { format, alerts, records, leftOut };
};
