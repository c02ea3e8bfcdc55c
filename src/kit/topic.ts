import type { TSchema } from 'typebox';
import type { RouteAccess } from '../auth/access.ts';

/** Sends an event. `data` is JSON. If the client is behind, returns a promise that resolves when it has caught up. */
export type SendEvent = (data: string, id?: number) => Promise<void> | undefined;

/** Events that a feature publishes at /api/events. While nobody listens, nothing is computed. */
export interface Topic extends RouteAccess {
  /** Profile that the topic needs. Default: the first mounted profile of the feature. */
  profile?: string;
  /** Schema of an event. Its title is the name of the event in the OpenAPI document. */
  schema: TSchema;
  /**
   * Returns the id of the last event. Undefined until the id is known. Exists only for topics whose listeners can
   * continue after any event.
   */
  lastId?(): number | undefined;
  /** Reads the last id again. Other instances may have advanced it. */
  refresh?(): Promise<void>;
  /** Sends the events after the id `after`. Returns a function that ends the subscription. */
  subscribe(send: SendEvent, after: number): () => void;
}

interface PollingOptions {
  /** True to send only values that differ from the previous value. */
  onlyChanges?: boolean;
  /** Called before the first reading after a period without listeners. */
  begin?(): void;
}

/** Creates a topic that polls a value while it has listeners. A new listener gets a value immediately. */
export const createPolledTopic = (
  allowed: RouteAccess,
  schema: TSchema,
  intervalMs: number,
  read: () => Promise<object>,
  { onlyChanges = false, begin }: PollingOptions = {},
): Topic => {
  const listeners = new Set<SendEvent>();
  let timer: NodeJS.Timeout | undefined;
  let isReading = false;
  let last: { text: string; at: number } | undefined;
  const poll = async (): Promise<void> => {
    if (isReading) return;
    isReading = true;
    // A failed reading sends no event.
    const text = await read().then(JSON.stringify, () => undefined);
    isReading = false;
    if (text === undefined) return;
    const isSame = text === last?.text;
    last = { text, at: performance.now() };
    if (onlyChanges && isSame) return;
    for (const send of listeners) void send(text);
  };
  return {
    ...allowed,
    schema,
    subscribe: (send) => {
      listeners.add(send);
      timer ??= setInterval(() => void poll(), intervalMs).unref();
      if (last && performance.now() - last.at < intervalMs) {
        // A new reading would measure shares over too short a period.
        void send(last.text);
      } else {
        last = undefined;
        begin?.();
        void poll();
      }
      return () => {
        listeners.delete(send);
        if (listeners.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
  };
};

/**
 * Creates a topic for the values of a source. While the topic has listeners, the source sends a value immediately and
 * after each change.
 */
export const createSourceTopic = (
  allowed: RouteAccess,
  schema: TSchema,
  listen: (report: (value: object) => void) => () => void,
): Topic => {
  const listeners = new Set<SendEvent>();
  let end: (() => void) | undefined;
  let last: string | undefined;
  const report = (value: object): void => {
    last = JSON.stringify(value);
    for (const send of listeners) void send(last);
  };
  return {
    ...allowed,
    schema,
    subscribe: (send) => {
      listeners.add(send);
      if (!end) end = listen(report);
      else if (last !== undefined) void send(last);
      return () => {
        listeners.delete(send);
        if (listeners.size > 0) return;
        end?.();
        end = undefined;
        last = undefined;
      };
    },
  };
};

/** Sends an event to all listeners. Calls `toEvent` only if there are any. */
export type Publish = (toEvent: () => object) => void;

/** Creates a topic and the function that publishes its events. */
export const createEventTopic = (allowed: RouteAccess, schema: TSchema): { topic: Topic; publish: Publish } => {
  const listeners = new Set<SendEvent>();
  return {
    topic: {
      ...allowed,
      schema,
      subscribe: (send) => {
        listeners.add(send);
        return () => void listeners.delete(send);
      },
    },
    publish: (toEvent) => {
      if (listeners.size === 0) return;
      const text = JSON.stringify(toEvent());
      for (const send of listeners) void send(text);
    },
  };
};
