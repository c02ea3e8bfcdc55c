import type { FastifyReply, FastifyRequest } from 'fastify';
import { toHttpError } from '../../http/response/errors.ts';
import type { Meters } from '../../metrics/meters.ts';

const levels: [name: string, synonyms: RegExp][] = [
  ['critical', /^(?:critical|crit|page|emergency|emerg|alert|fatal|panic|p1)$/i],
  ['error', /^(?:error|err|major|high|p2)$/i],
  ['warning', /^(?:warn.*|minor|p3)$/i],
  ['info', /^(?:info.*|notice|debug|trace|none|low|)$/i],
];

export type AlertCounts = ReturnType<typeof createAlertCounts>;

/** Counts alerts for /metrics and the history. A level may be any text, so it is counted as one of five. */
export const createAlertCounts = ({ counter }: Meters) => {
  const received = counter('signalbox_alerts_received_total', 'Alerts stored.', ['format', 'level']);
  const invalid = counter('signalbox_alerts_invalid_total', 'Requests refused because of their body.', ['format']);
  const repeated = counter(
    'signalbox_alerts_repeated_total',
    'Alerts not stored because they were before.',
    ['format'],
    ['native'],
  );
  for (const level of [...levels.map(([name]) => name), 'other']) received.at('native', level);
  return {
    addReceived: (format: string, level: string): void => {
      const name = levels.find(([, synonyms]) => synonyms.test(level))?.[0] ?? 'other';
      received.at(format, name).value += 1;
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
