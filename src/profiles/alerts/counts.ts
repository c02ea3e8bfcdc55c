import type { FastifyReply, FastifyRequest } from 'fastify';
import { HttpError, toHttpError } from '../../http/errors.ts';
import type { Meters } from '../../metrics/meters.ts';
import { JournalError } from '../../storage/journal/errors.ts';
import { severities, toSeverity } from '../severity.ts';

export type AlertCounts = ReturnType<typeof createAlertCounts>;

/** Counts alerts for /metrics and the history, by severity: a level may be any text. */
export const createAlertCounts = ({ counter }: Meters) => {
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
    addRepeated: (format: string, count: number): void => {
      repeated.at(format).value += count;
    },
    /** Counts bodies that a route refuses; the error is then sent as usual. */
    createErrorHandler: (format: string) => {
      // Prometheus sees an increase only of a counter that was there before.
      const refused = invalid.at(format);
      return (error: unknown, _request: FastifyRequest, reply: FastifyReply): void => {
        const status = toHttpError(error)?.status;
        if (status === 400 || status === 413) refused.value += 1;
        reply.send(error);
      };
    },
  };
};

export const retryAfter = { 'retry-after': '1' };

/** The response to alerts that were not stored; errors that are not the journal's stay as they are. */
export const toRefusal = (error: unknown): unknown => {
  if (!(error instanceof JournalError)) return error;
  const kind = error.code === 'too-large' ? 'too-large' : 'unavailable';
  return new HttpError(kind, `The alert was not stored: ${error.message}`, { headers: retryAfter });
};
