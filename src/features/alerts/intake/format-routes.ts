import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { openFor } from '../../../auth/access.ts';
import { ErrorBody } from '../../../http/errors.ts';
import { sendJson, whenReady } from '../../../http/json.ts';
import { defineRoute, type Route } from '../../../kit/route.ts';
import { createForeignAlert } from '../alert.ts';
import { collectAlerts, formats, readBody, toIntakeRequest } from './body.ts';
import { assertFits } from './body-check.ts';
import { type FormatKeeper, FormatParams } from './custom/kind.ts';
import { type Format, IntakeReceipt } from './format.ts';
import { otlp } from './formats/otlp.ts';
import { prometheus } from './formats/prometheus.ts';
import { isBinary } from './meters.ts';
import type { IntakeParts } from './native-routes.ts';
import { assertSigned } from './signature.ts';

/** Creates the routes for built-in formats, for senders that insist on a path, and for bodies in any format. */
export const createFormatRoutes = (parts: IntakeParts): Route[] => [
  ...formats.map((format) => createFormatRoute(parts, `/api/alert/${format.name}`, toOperationId(format.name), format)),
  createFormatRoute(parts, '/api/v2/alerts', 'pushAlerts', prometheus),
  // Programs append this path to OTEL_EXPORTER_OTLP_ENDPOINT and send everything they log.
  createFormatRoute(parts, '/v1/logs', 'pushLogs', otlp, true),
  createFormatRoute(parts, '/api/alert/auto', 'createAlertsFromAny'),
];

/** Converts the name of a format to an operation id: `uptime-kuma` → `createAlertsFromUptimeKuma`. */
const toOperationId = (name: string): string =>
  `createAlertsFrom${name.replaceAll(/(?:^|-)([a-z])/g, (_match, letter: string) => letter.toUpperCase())}`;

/** Members common to all routes with handlers that parse and validate the body themselves. */
const bytesRoute = {
  method: 'POST',
  ...openFor('alerts:write'),
  body: 'bytes',
  largeBody: true,
  compressedBody: true,
  validatorCompiler: () => () => true,
} as const;

/**
 * Creates a route for the given format or, without a format, for all formats. With `leavesOutInfo`, the route drops
 * INFO alerts.
 */
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
    ...bytesRoute,
    path,
    summary: expected?.summary ?? 'Store alerts; the server recognizes the format by the body',
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
    handler: (request, reply) => storeAlerts(parts, request, reply, expected, leavesOutInfo),
  });
};

/**
 * Creates the route for custom formats from the config file and from runtime settings. Paths of other routes take
 * precedence.
 */
export const createCustomRoute = (parts: IntakeParts, keeper: FormatKeeper): Route =>
  defineRoute({
    ...bytesRoute,
    path: '/api/alert/:intakeFormat',
    summary: 'Store alerts in a custom format',
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
    if (!answer) {
      sendJson(reply, { received: true, ids, repeated });
      return;
    }
    const created = answer.create({ ids, leftOut, fingerprints: alerts.map(({ fingerprint = '' }) => fingerprint) });
    const { binary } = format;
    reply.code(answer.status);
    if (isBinary(request, binary)) reply.type(binary.mediaType).send(binary.write(created));
    else sendJson(reply, created);
  });
};

/** Returns the alerts in a request and their records. Throws an HttpError for a body without alerts. */
const readAlerts = (
  { secrets, clock, identifySender }: IntakeParts,
  request: FastifyRequest,
  expected: Format | undefined,
  leavesOutInfo: boolean,
) => {
  const incoming = toIntakeRequest(request);
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
  const alerts = collectAlerts(listKept());
  const receipt = { now, sender: identifySender(request) };
  const records = alerts.map((alert) => createForeignAlert(format.name, alert, receipt, request.headers));
  return { format, alerts, records, leftOut };
};
