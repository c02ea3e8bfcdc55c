import type { Scope } from '../auth/access-keys.ts';
import type { Access } from '../auth/guard.ts';

/** Sends an event; `data` is JSON. Resolves when the reader has room for more. */
export type SendEvent = (data: string, id?: number) => Promise<void>;

/** Changes that a feature reports to listeners of /api/events. Nothing is computed while nobody listens. */
export interface Topic {
  /** Who may listen: those who may use the topic's route. */
  access: Access;
  scope?: Scope;
  /** The id of the last event, if a listener can go on after any of them. */
  lastId?(): number;
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
  let last: string | undefined;
  // A reading that fails is left out.
  const readText = () => read().then(JSON.stringify, () => undefined);
  const poll = async (): Promise<void> => {
    const text = await readText();
    if (text === undefined || (onlyChanges && text === last)) return;
    last = text;
    for (const send of listeners) void send(text);
  };
  return {
    access,
    subscribe: (send) => {
      listeners.add(send);
      timer ??= setInterval(() => void poll(), intervalMs).unref();
      void readText().then((text) => {
        if (text !== undefined && listeners.has(send)) void send(text);
      });
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
