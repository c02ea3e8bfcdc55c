import type { FastifyBaseLogger } from 'fastify';
import type { StoredRecord } from '../../storage/journal/line.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import type { MessageSender } from './incident-destination.ts';
import { createIncidentMessage } from './message.ts';
import type { Sender } from './sender.ts';
import type { DestinationTarget } from './settings.ts';

/** What messages link to. */
export interface MessageLinks {
  /** The setting. */
  publicUrl: string | undefined;
  /** Where the receiver of a destination can acknowledge the incidents; undefined if there is no such address. */
  toAcknowledgeUrl(destination: string, ids: readonly string[]): string | undefined;
}

interface MessageSenderParts extends MessageLinks {
  target: DestinationTarget;
  instance: string;
  sender: Sender;
  alerts: Pick<RecordLog, 'find'>;
  log: FastifyBaseLogger;
}

/** Makes messages of what happened to incidents, and sends them to one destination. */
export const createMessageSender = (parts: MessageSenderParts): MessageSender => {
  const { target, instance, sender, alerts, publicUrl, toAcknowledgeUrl, log } = parts;
  const { name } = target.settings;
  /** A message says less without the alert, so it does not wait for it. */
  const readAlert = (id: string): Promise<StoredRecord | undefined> => alerts.find(id).catch(() => undefined);
  return {
    send: async (planned) => {
      try {
        const happenings = await Promise.all(
          planned.map(async ({ what, happenedAt: at, incident }) => {
            // A message about several incidents has no room for their details.
            const alert = planned.length === 1 ? await readAlert(incident.lastAlert) : undefined;
            return { what, at, incident, alert };
          }),
        );
        const links = {
          publicUrl,
          toAcknowledgeUrl: (ids: readonly string[]) => toAcknowledgeUrl(name, ids),
        };
        const { outcome } = await sender.send(createIncidentMessage(happenings, { ...links, instance }));
        return outcome;
      } catch (err) {
        log.error({ err, destination: name }, 'outbox: unexpected error');
        return { kind: 'refused', reason: 'unexpected error' };
      }
    },
    close: () => sender.close(),
  };
};
