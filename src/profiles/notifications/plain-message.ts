import { hash } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { createIdOf } from '../../storage/journal/line.ts';
import { ownSender } from '../offers.ts';
import { rankOf } from '../severity.ts';
import type { DeliveredAlert } from './destinations/type.ts';
import type { Happening, MessageSender } from './incident-destination.ts';
import { toOutcome } from './receiver-state.ts';
import type { Sender } from './sender.ts';
import { createRequest, type DestinationTarget } from './settings.ts';

interface MessageParts {
  target: DestinationTarget;
  instance: string;
  sender: Sender;
  clock: () => Date;
  log: FastifyBaseLogger;
}

/** Sends messages as an alert of signalbox's own. */
export const createMessageSender = ({ target, instance, sender, clock, log }: MessageParts): MessageSender => ({
  send: async (happenings) => {
    try {
      const reply = await sender.send(createRequest(target, toAlert(happenings, instance), clock()));
      if ('failure' in reply) return { kind: 'failed', reason: reply.failure, seconds: 0, mayBeAlert: reply.isSent };
      return toOutcome(reply.status, reply.retryAfter, clock());
    } catch (err) {
      log.error({ err, destination: target.settings.name }, 'outbox: unexpected error');
      return { kind: 'refused', reason: 'unexpected error' };
    }
  },
  close: () => sender.close(),
});

const toAlert = (happenings: readonly Happening[], instance: string): DeliveredAlert => {
  const [first] = happenings.toSorted((a, b) => rankOf(a.incident.level) - rankOf(b.incident.level));
  if (!first) throw new Error('there is nothing to tell');
  const { what, happenedAt, incident } = first;
  const parts = happenings.map((one) => [one.incident.id, one.what, one.happenedAt, one.incident.level]);
  const names = happenings.map(({ what: kind, incident: { number, title } }) => `${kind} #${number} ${title}`);
  const lines = names.length === 1 ? names[0] : `${names.length} incidents: ${names.join(', ')}`;
  return {
    id: createIdOf(happenedAt, hash('sha256', JSON.stringify(parts), 'hex')),
    time: new Date(happenedAt).toISOString(),
    source: incident.source || ownSender,
    level: incident.level,
    severity: incident.level,
    message: lines ?? '',
    hostname: incident.hostname,
    format: 'native',
    status: what === 'resolved' ? 'resolved' : 'firing',
    via: instance,
  };
};
