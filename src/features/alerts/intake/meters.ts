import type { FastifyReply, FastifyRequest } from 'fastify';
import { readMediaType } from '../../../http/body.ts';
import { toHttpError } from '../../../http/errors.ts';
import { severities, toSeverity } from '../../../kit/severity.ts';
import type { Meters } from '../../../metrics/meters.ts';
import type { Format } from './format.ts';
import { toIntakeRefusal } from './intake-refusal.ts';

export type AlertMeters = ReturnType<typeof createAlertMeters>;

/**
 * Counts alerts by format and severity, and rejected requests by format. Severities are counted instead of levels,
 * because a level can be any text.
 */
export const createAlertMeters = ({ counter }: Meters) => {
  const received = counter('signalbox_alerts_received_total', 'Alerts stored.', ['format', 'level']);
  const invalid = counter('signalbox_alerts_invalid_total', 'Requests refused because of their body.', ['format']);
  const repeated = counter(
    'signalbox_alerts_repeated_total',
    'Alerts not stored because they repeat a stored alert.',
    ['format'],
    ['native'],
  );
  for (const severity of severities) received.at('native', severity.toLowerCase());
  return {
    addReceived: (format: string, level: string): void => {
      received.at(format, toSeverity(level).toLowerCase()).value += 1;
    },
    /** Returns the number of stored alerts by lower-case severity. */
    countReceived: (): Record<string, number> => {
      const sums: Record<string, number> = {};
      for (const [[, level = ''], { value }] of received.entries()) sums[level] = (sums[level] ?? 0) + value;
      return sums;
    },
    addRepeated: (format: string, count: number): void => {
      repeated.at(format).value += count;
    },
    /** Creates the error handler of a route. It counts rejected bodies. */
    createErrorHandler: (format: string, binary?: Format['binary']) => {
      // The counter must exist before the first rejection, because Prometheus notices only increases of counters it
      // already knows.
      const refused = invalid.at(format);
      return createRefusing(() => refused, binary);
    },
    /** Creates the error handler for a route with several formats. Does not count bodies in an unknown format. */
    createCustomErrorHandler: (findName: (request: FastifyRequest) => string | undefined) =>
      createRefusing((request) => {
        const format = findName(request);
        return format === undefined ? undefined : invalid.at(format);
      }),
  };
};

/** True if the request has the media type of a format with non-JSON responses. */
export const isBinary = ({ raw }: FastifyRequest, binary: Format['binary']): binary is NonNullable<Format['binary']> =>
  binary !== undefined && readMediaType(raw) === binary.mediaType;

const createRefusing =
  (findCounter: (request: FastifyRequest) => { value: number } | undefined, binary?: Format['binary']) =>
  (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const refusal = toIntakeRefusal(error);
    const known = toHttpError(refusal);
    const refused = known?.status === 400 || known?.status === 413 ? findCounter(request) : undefined;
    if (refused) refused.value += 1;
    reply.send(
      known && isBinary(request, binary)
        ? known.writtenAs(binary.mediaType, binary.writeError(known.message))
        : refusal,
    );
  };
