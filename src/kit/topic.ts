import type { TSchema } from 'typebox';
import type { RouteAccess } from '../auth/access.ts';

/** Sends an event; `data` is JSON. If the reader is behind, it returns a promise that resolves when it has caught up. */
export type SendEvent = (data: string, id?: number) => Promise<void> | undefined;

/** Changes that a feature reports to listeners of /api/events. Nothing is computed while nobody listens. */
export interface Topic extends RouteAccess {
  /** The profile with this route, without which there is no topic; by default the first mounted one of the feature. */
  profile?: string;
  /** What an event says; its title is its name in the OpenAPI document. */
  schema: TSchema;
  /** The id of the last event, if a listener can go on after any of them; undefined if it is not known yet. */
  lastId?(): number | undefined;
  /** Learns the last id, which other instances may have raised. */
  refresh?(): Promise<void>;
  /** Begins to send events, from the one after `after` on; returns the function that ends it. */
  subscribe(send: SendEvent, after: number): () => void;
}

interface PollingOptions {
  /** Sends only values that differ from the one before. */
  onlyChanges?: boolean;
  /** Called before a reading that does not continue the one before, since nobody has listened. */
  begin?(): void;
}

/** A topic that reads a value at intervals while somebody listens; a new listener gets one at once. */
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
    // A reading that fails is left out.
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
        // Reading more often would make the time that a share is measured over too short.
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

/** A topic of values that a source gives at once and whenever there is another one, while somebody listens. */
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

/** Sends a notice, which is made only if somebody listens, to all listeners. */
export type Publish = (toNotice: () => object) => void;

/** A topic of notices, and the function that sends one. */
export const createNoticeTopic = (allowed: RouteAccess, schema: TSchema): { topic: Topic; publish: Publish } => {
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
    publish: (toNotice) => {
      if (listeners.size === 0) return;
      const text = JSON.stringify(toNotice());
      for (const send of listeners) void send(text);
    },
  };
};
