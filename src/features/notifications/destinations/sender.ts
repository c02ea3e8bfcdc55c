import type { LookupFunction } from 'node:net';
import { createTargets, type Targets, UncheckedTarget } from '../../../kit/targets.ts';
import type { DeliveredAlert } from '../message/alert.ts';
import type { IncidentMessage } from '../message/message.ts';
import { toOutgoing } from '../message/outgoing.ts';
import { toDeliveryOutcome } from '../queue/outcome.ts';
import { createRequest, type DestinationTarget } from './target.ts';
import type { SendResult } from './type.ts';

/** Seconds that a request may take, of most types. */
const usualSeconds = 15;

/** Sends alerts and messages to the receiver of one destination. */
export interface Sender {
  /** `added`: headers of this request, where the receiver speaks HTTP. Rejects only for unexpected errors. */
  send(content: DeliveredAlert | IncidentMessage, added?: Record<string, string>): Promise<SendResult>;
  /** Breaks off what is being sent. */
  close(): Promise<void>;
}

/**
 * The sender of a destination, with up to so many connections; what it needs is loaded with the first one. A destination
 * created at run time reaches only `targets`.
 */
export const openSender = async (
  target: DestinationTarget,
  connections: number,
  clock: () => Date,
  targets: Targets = createTargets([]),
): Promise<Sender> => {
  const sender = await createSender(target, connections, clock, target.isMade ? targets.lookup : undefined);
  if (!target.isMade) return sender;
  return {
    // Sockets look up names only, and the setting may have changed since the last attempt.
    send: async (content, added) => toForbidden(target, targets) ?? (await sender.send(content, added)),
    close: () => sender.close(),
  };
};

const toForbidden = ({ receiver: { url } }: DestinationTarget, targets: Targets): SendResult | undefined => {
  try {
    targets.assertHost(url.hostname);
    return undefined;
  } catch (error) {
    if (!(error instanceof UncheckedTarget)) throw error;
    return { outcome: { kind: 'rejected', reason: error.message }, reply: error.message };
  }
};

const createSender = async (
  target: DestinationTarget,
  connections: number,
  clock: () => Date,
  lookup: LookupFunction | undefined,
): Promise<Sender> => {
  const { type, receiver, settings } = target;
  const seconds = settings.timeoutSeconds ?? type.timeoutSeconds ?? usualSeconds;
  if (type.createSender) {
    const { send, close } = await type.createSender(receiver, seconds, lookup);
    return { send: async (content) => send(toOutgoing(content), clock()), close };
  }
  const { createHttpSender } = await import('./http-sender.ts');
  const { send, close } = createHttpSender(receiver, connections, seconds, lookup);
  return {
    send: async (content, added) => {
      const reply = await send(createRequest(target, toOutgoing(content), clock(), added));
      if ('failure' in reply) {
        const { failure: reason, isSent: mayBeMessage, isForbidden, isUnanswered } = reply;
        if (isForbidden) return { outcome: { kind: 'rejected', reason }, reply: reason };
        return {
          outcome: { kind: 'failed', reason, seconds: 0, mayBeMessage, ...(isUnanswered && { isUnanswered }) },
          reply: reason,
        };
      }
      const text = reply.text.trim();
      return {
        outcome: toDeliveryOutcome(reply.status, reply.retryAfter, clock()),
        reply: `${reply.status}${text === '' ? '' : `\n${text}`}`,
      };
    },
    close,
  };
};
