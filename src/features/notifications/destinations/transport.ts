import { createReach, type Reach, UncheckedAddress } from '../../../kit/reach.ts';
import { type Outgoing, toOutgoing } from '../message/outgoing.ts';
import { toDeliveryOutcome } from '../queue/outcome.ts';
import type { DestinationDefinition } from './definition.ts';
import type { HttpTransport } from './http-transport.ts';
import type { DeliveryRequest, SendResult, Transport } from './type.ts';

/** Default timeout of a request in seconds, for most types. */
const usualSeconds = 15;

/**
 * Opens the transport of a destination. Loads its modules on first use. A destination from the runtime settings can
 * reach only the addresses that `reach` allows.
 */
export const openTransport = async (
  definition: DestinationDefinition,
  connections: number,
  clock: () => Date,
  reach: Reach = createReach([]),
): Promise<Transport> => {
  const { type, receiver, settings, isRuntimeSetting } = definition;
  const seconds = settings.timeoutSeconds ?? type.timeoutSeconds ?? usualSeconds;
  const lookup = isRuntimeSetting ? reach.lookup : undefined;
  const transport =
    (await type.openTransport?.(receiver, seconds, lookup)) ??
    toTransport(
      definition,
      (await import('./http-transport.ts')).createHttpTransport(receiver, connections, seconds, lookup),
      clock,
    );
  if (!isRuntimeSetting) return transport;
  return {
    // Sockets do not look up IP addresses, and the setting may have changed since the last attempt.
    send: async (content, added) => toForbidden(definition, reach) ?? (await transport.send(content, added)),
    close: () => transport.close(),
  };
};

const toForbidden = ({ receiver: { url } }: DestinationDefinition, reach: Reach): SendResult | undefined => {
  try {
    reach.assertHost(url.hostname);
    return undefined;
  } catch (error) {
    if (!(error instanceof UncheckedAddress)) throw error;
    return { outcome: { kind: 'rejected', reason: error.message }, reply: error.message };
  }
};

/** Returns the transport of an HTTP destination. */
export const toTransport = (
  definition: Pick<DestinationDefinition, 'type' | 'receiver'>,
  { send, close }: HttpTransport,
  clock: () => Date,
): Transport => ({
  send: async (content, added) => {
    const reply = await send(createRequest(definition, toOutgoing(content), clock(), added));
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
});

/** Builds the request that sends the content, with additional headers. `now` is the time of the request. */
const createRequest = (
  { type, receiver }: Pick<DestinationDefinition, 'type' | 'receiver'>,
  outgoing: Outgoing,
  now: Date,
  added: Record<string, string> = {},
): DeliveryRequest => {
  if (!type.toRequest) throw new Error(`${type.name} has no requests`);
  const request = type.toRequest(outgoing, receiver, now);
  const given = type.toHeaders?.(outgoing, receiver) ?? receiver.headers;
  request.headers = { 'user-agent': 'signalbox', ...request.headers, ...given, via: outgoing.via, ...added };
  return request;
};
