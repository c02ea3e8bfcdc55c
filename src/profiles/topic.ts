import type { Access } from '../auth/guard.ts';
import type { Scope } from '../auth/scopes.ts';

/** Sends an event; `data` is JSON. If the reader is behind, it returns a promise that resolves when it has caught up. */
export type SendEvent = (data: string, id?: number) => Promise<void> | undefined;

/** Changes that a feature reports to listeners of /api/events. Nothing is computed while nobody listens. */
export interface Topic {
  /** Who may listen: those who may use the topic's route. */
  access: Access;
  scope?: Scope;
  /** The id of the last event, if a listener can go on after any of them; undefined if it is not known yet. */
  lastId?(): number | undefined;
  /** Learns the last id, which other instances may have raised. */
  refresh?(): Promise<void>;
  /** Begins to send events, from the one after `after` on; returns the function that ends it. */
  subscribe(send: SendEvent, after: number): () => void;
}

/** A topic that reads a value at intervals while somebody listens; a new listener gets one at once. */
export const createPolledTopic = (
  access: Access,
  intervalMs: number,
  read: () => Promise<object>,
  /** Sends only values that differ from the one before. */
  { onlyChanges = false } = {},
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
    access,
    subscribe: (send) => {
      listeners.add(send);
      timer ??= setInterval(() => void poll(), intervalMs).unref();
      if (last && performance.now() - last.at < intervalMs) {
        // Reading more often would make the time that a share is measured over too short.
        void send(last.text);
      } else {
        last = undefined;
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

/** A topic of notices, and the function that sends one to all listeners. */
export const createNoticeTopic = (access: Access): { topic: Topic; publish(notice: object): void } => {
  const listeners = new Set<SendEvent>();
  return {
    topic: {
      access,
      subscribe: (send) => {
        listeners.add(send);
        return () => void listeners.delete(send);
      },
    },
    publish: (notice) => {
      if (listeners.size === 0) return;
      const text = JSON.stringify(notice);
      for (const send of listeners) void send(text);
    },
  };
};
