import type { LinkedDestination } from '../acknowledge/links.ts';
import type { FindAlert } from './find-alert.ts';
import { createIncidentMessage, type IncidentMessage, type IncidentUpdate } from './message.ts';
import { waitForMessageTurn } from './message-turn.ts';

/** Links in messages. */
export interface MessageLinks {
  publicUrl: string | undefined;
  /** Returns the URL that lets the receiver of a destination acknowledge the incidents. */
  toUrl(destination: LinkedDestination, ids: readonly string[]): string | undefined;
}

interface WriterParts {
  destination: LinkedDestination;
  instance: string;
  /** Server id. All instances with the same database share it. */
  origin?: string | undefined;
  links: MessageLinks;
  findAlert: FindAlert;
}

/**
 * Creates a function that writes the messages to one destination. A message about a single incident includes the last
 * alert of the incident.
 */
export const createMessageWriter =
  ({ destination, instance, origin = instance, links, findAlert }: WriterParts) =>
  async (updates: readonly IncidentUpdate[]): Promise<IncidentMessage> => {
    const { publicUrl, toUrl } = links;
    const toAcknowledgeUrl = (ids: readonly string[]) => toUrl(destination, ids);
    const addAlert = async (update: IncidentUpdate): Promise<IncidentUpdate> => ({
      ...update,
      alert: await findAlert(update.incident.lastAlert),
    });
    const described = updates.length === 1 ? await Promise.all(updates.map(addAlert)) : updates;
    await waitForMessageTurn();
    return createIncidentMessage(described, { publicUrl, toAcknowledgeUrl, instance, origin });
  };
