import { createTargets } from '../targets.ts';
import { createRequest, type DestinationTarget } from './destination-target.ts';
import type { DeliveredAlert, Sent } from './destinations/type.ts';
import { toOutgoing } from './destinations/type.ts';
import type { IncidentMessage } from './message.ts';
import { toOutcome } from './receiver-state.ts';

/** For a request of HTTP. */
const requestSeconds = 15;

/** What destinations that people have made may reach. */
const guarded = createTargets([]);

/** Sends alerts and messages to the receiver of one destination. */
export interface Sender {
  /** `added`: headers of this request, where the receiver speaks HTTP. Rejects only for unexpected errors. */
  send(content: DeliveredAlert | IncidentMessage, added?: Record<string, string>): Promise<Sent>;
  /** Breaks off what is being sent. */
  close(): Promise<void>;
}

/** The sender of a destination, with up to so many connections; what it needs is loaded with the first one. */
export const openSender = async (
  target: DestinationTarget,
  connections: number,
  clock: () => Date,
): Promise<Sender> => {
  const { type, receiver } = target;
  if (type.createSender) {
    const { send, close } = await type.createSender(receiver, connections, target.isMade ? guarded.lookup : undefined);
    return { send: async (content) => send(toOutgoing(content), clock()), close };
  }
  const { createHttpSender, lookupInTurn } = await import('./http-sender.ts');
  const lookup = target.isMade ? createTargets([], lookupInTurn).lookup : lookupInTurn;
  const { send, close } = createHttpSender(receiver.url, connections, requestSeconds, lookup);
  return {
    send: async (content, added) => {
      const reply = await send(createRequest(target, toOutgoing(content), clock(), added));
      if ('failure' in reply) {
        const { failure: reason, isSent: mayBeAlert } = reply;
        return { outcome: { kind: 'failed', reason, seconds: 0, mayBeAlert }, reply: reason };
      }
      const text = reply.text.trim();
      return {
        outcome: toOutcome(reply.status, reply.retryAfter, clock()),
        reply: `${reply.status}${text === '' ? '' : `\n${text}`}`,
      };
    },
    close,
  };
};
