import type { LinkedDestination } from '../acknowledge/links.ts';
import type { Sender } from '../destinations/sender.ts';
import type { DeliveryOutcome } from '../queue/outcome.ts';
import type { FindAlert } from './find-alert.ts';
import { createIncidentMessage, type IncidentHappening } from './message.ts';
import { waitForMessageTurn } from './message-turn.ts';

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
  findAlert: FindAlert;
}

export type MessageSender = ReturnType<typeof createMessageSender>;

/** Tells the receiver of one destination what happened to incidents, as one message. */
export const createMessageSender = ({
  destination,
  instance,
  origin = instance,
  sender,
  links,
  findAlert,
}: MessageSenderParts) => {
  const { publicUrl, toUrl } = links;
  const toAcknowledgeUrl = (ids: readonly string[]) => toUrl(destination, ids);
  /** Of a single incident, details are told. */
  const addAlert = async (happening: IncidentHappening): Promise<IncidentHappening> => ({
    ...happening,
    alert: await findAlert(happening.incident.lastAlert),
  });
  return {
    send: async (happenings: readonly IncidentHappening[]): Promise<DeliveryOutcome> => {
      const told = happenings.length === 1 ? await Promise.all(happenings.map(addAlert)) : happenings;
      await waitForMessageTurn();
      const message = createIncidentMessage(told, { publicUrl, toAcknowledgeUrl, instance, origin });
      return (await sender.send(message)).outcome;
    },
    /** Breaks off what is being sent. */
    close: () => sender.close(),
  };
};
