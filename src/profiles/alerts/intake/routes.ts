import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { IdentifySender } from '../../../auth/guard.ts';
import { ErrorBody, HttpError } from '../../../http/errors.ts';
import { sendJson } from '../../../http/json.ts';
import { defineRoute, type Route } from '../../route.ts';
import { type AlertCounts, toRefusal } from '../counts.ts';
import { assertSigned, readBody, toIncoming } from './body.ts';
import { assertFits } from './fits.ts';
import { type ForeignAlert, type Format, IntakeReceipt } from './format.ts';
import { prometheus } from './formats/prometheus.ts';
import { formats } from './formats.ts';
import { toRecord } from './record.ts';
import type { AlertIntake } from './repeats.ts';

interface Intake {
  intake: AlertIntake;
  counts: AlertCounts;
  clock: () => Date;
  identifySender: IdentifySender;
  /** Secrets by format, whose senders then have to sign. */
  secrets: Readonly<Record<string, string | undefined>>;
}

/** The most alerts in one body. */
const maxAlerts = 1000;

/** A route for each format, one for any of them, and one where Prometheus insists on its path. */
export const createIntakeRoutes = (intake: Intake): Route[] => [
  ...formats.map((format) =>
    createRoute(intake, { path: `/api/alert/${format.name}`, operationId: toOperationId(format.name), format }),
  ),
  createRoute(intake, { path: '/api/v2/alerts', operationId: 'pushAlerts', format: prometheus }),
  createRoute(intake, { path: '/api/alert/auto', operationId: 'createAlertsFromAny' }),
];

/** `uptime-kuma` → `createAlertsFromUptimeKuma`. */
const toOperationId = (name: string): string =>
  `createAlertsFrom${name.replaceAll(/(?:^|-)([a-z])/g, (_match, letter: string) => letter.toUpperCase())}`;

interface Place {
  path: string;
  operationId: string;
  /** The one that is expected; any if there is none. */
  format?: Format;
}

const createRoute = (intake: Intake, { path, operationId, format }: Place): Route =>
  defineRoute({
    method: 'POST',
    path,
    access: 'open',
    scope: 'alerts:write',
    summary: format?.summary ?? 'Store alerts of any of these formats, recognized by their marks',
    body: 'bytes',
    errorHandler: intake.counts.createErrorHandler(format?.name ?? 'auto'),
    schema: {
      operationId,
      consumes: ['application/json', ...(format ? [format] : formats).flatMap(({ mediaTypes = [] }) => mediaTypes)],
      body: format?.schema ?? Type.Unknown({ examples: [{ text: 'The disk of web-1 is full' }] }),
      response: {
        [format?.answer?.status ?? 200]: format?.answer?.schema ?? IntakeReceipt,
        ...(mustSign(intake, format) && { 401: ErrorBody }),
        415: ErrorBody,
      },
    },
    // Bodies are checked here: only then is it known what they are.
    validatorCompiler: () => () => true,
    handler: async (request, reply) => {
      const { ids, repeated, body } = await receive(intake, request, format);
      const answer = format?.answer;
      sendJson(
        reply.code(answer?.status ?? 200),
        answer ? answer.create({ ids, body }) : { received: true, ids, repeated },
      );
      return reply;
    },
  });

const mustSign = ({ secrets }: Intake, format: Format | undefined): boolean =>
  (format ? [format] : formats).some(({ name, signature }) => signature && secrets[name] !== undefined);

/** Stores the alerts of a request. */
const receive = async (intake: Intake, request: FastifyRequest, expected: Format | undefined) => {
  const incoming = toIncoming(request);
  const now = intake.clock();
  const { format, value } = readBody(incoming, expected);
  const secret = intake.secrets[format.name];
  if (format.signature && secret !== undefined) assertSigned(secret, format.signature, incoming, now);
  assertFits(format.schema, value);
  const alerts = takeAlerts(format.readAlerts(value as never, now));
  const sender = intake.identifySender(request);
  const records = alerts.map((alert) => toRecord(format.name, alert, { now, sender }, request.headers));
  const stored = await intake.intake.store(records).catch((error) => {
    throw toRefusal(error);
  });
  for (const { level } of stored.fresh) intake.counts.addReceived(format.name, level);
  intake.counts.addRepeated(format.name, stored.repeated);
  return { ...stored, body: value };
};

/** Counted while they are read: a body of 1 MiB can hold 500,000. */
const takeAlerts = (alerts: Iterable<ForeignAlert>): ForeignAlert[] => {
  const taken: ForeignAlert[] = [];
  for (const alert of alerts) {
    if (taken.push(alert) > maxAlerts) throw new HttpError('too-large', `A body holds at most ${maxAlerts} alerts`);
  }
  return taken;
};
