import type { FastifyBaseLogger } from 'fastify';
import { awaitWithin } from '../../../lib/scheduling.ts';
import type { StoredRecord } from '../../../storage/journal/line.ts';
import type { LinkedDestination } from '../acknowledge/links.ts';
import type { Sender } from '../destinations/sender.ts';
import type { DeliveryOutcome } from '../queue/outcome.ts';
import { createIncidentMessage, type IncidentHappening } from './message.ts';
import { waitForMessageTurn } from './message-turn.ts';

/** How long a message waits at most for the alert whose details it tells. */
const patienceMs = 2000;

/** Where messages lead. */
export interface MessageLinks {
  publicUrl: string | undefined;
  /** Where the receiver of a destination can acknowledge the incidents. */
  toUrl(destination: LinkedDestination, ids: readonly string[]): string | undefined;
}

interface MessageSenderParts {
  destination: LinkedDestination;
  instance: string;
  /** The same for all instances that share a database. */
  origin?: string | undefined;
  sender: Sender;
  links: MessageLinks;
  /** Finds an alert of the log by its id. */
  findAlert(id: string): Promise<StoredRecord | undefined>;
  log: FastifyBaseLogger;
}

/** Tells the receiver of one destination what happened to incidents, as one message. */
export const createMessageSender = ({
  destination,
  instance,
  origin = instance,
  sender,
  links,
  findAlert,
  log,
}: MessageSenderParts) => {
  const { publicUrl, toUrl } = links;
  const toAcknowledgeUrl = (ids: readonly string[]) => toUrl(destination, ids);
  /** The details of a single incident are told without them rather than not at all. */
  const addAlert = async (happening: IncidentHappening): Promise<IncidentHappening> => ({
    ...happening,
    alert: await awaitWithin(
      patienceMs,
      findAlert(happening.incident.lastAlert).catch(() => undefined),
    ),
  });
  return {
    /** Never rejects. */
    send: async (happenings: readonly IncidentHappening[]): Promise<DeliveryOutcome> => {
      try {
        const told = happenings.length === 1 ? await Promise.all(happenings.map(addAlert)) : happenings;
        await waitForMessageTurn();
        const message = createIncidentMessage(told, { publicUrl, toAcknowledgeUrl, instance, origin });
        return (await sender.send(message)).outcome;
      } catch (err) {
        log.error({ err, destination: destination.name }, 'outbox: unexpected error');
        return { kind: 'refused', reason: 'unexpected error' };
      }
    },
    /** Breaks off what is being sent. */
    close: () => sender.close(),
  };
};
