import { isReadable } from '../access.ts';
import type { RouteName } from '../mounts.ts';

/** What the server reports as it happens. */
export type Topic =
  | 'host'
  | 'status'
  | 'history'
  | 'top'
  | 'processes'
  | 'tasks'
  | 'alerts'
  | 'deliveries'
  | 'executions';

export interface Subscriber {
  /** Receives the data of each event. */
  onEvent?: ((data: unknown) => void) | undefined;
  /** Events may have been missed, or there are none: read the present state. While polling, called every 2 s. */
  onResync: () => void;
}

/** The route whose guard also guards the topic. */
const guards: Record<Topic, RouteName> = {
  host: { profile: 'monitoring', method: 'GET', path: '/api/health' },
  processes: { profile: 'monitoring', method: 'GET', path: '/api/processes' },
  status: { profile: 'status', method: 'GET', path: '/api/status' },
  history: { profile: 'history', method: 'GET', path: '/api/history' },
  top: { profile: 'monitoring', method: 'GET', path: '/api/processes' },
  tasks: { profile: 'tasks', method: 'GET', path: '/api/tasks' },
  alerts: { profile: 'alerts', method: 'GET', path: '/api/alerts' },
  deliveries: { profile: 'alerts', method: 'GET', path: '/api/deliveries' },
  executions: { profile: 'commands', method: 'GET', path: '/api/executions' },
};

const subscribers = new Map<Topic, Set<Subscriber>>();

export const add = (topic: Topic, subscriber: Subscriber): void => {
  const others = subscribers.get(topic) ?? new Set();
  subscribers.set(topic, others.add(subscriber));
};

export const remove = (topic: Topic, subscriber: Subscriber): void => {
  const others = subscribers.get(topic);
  others?.delete(subscriber);
  if (others?.size === 0) subscribers.delete(topic);
};

/** Topics that somebody follows and that the present session may see. */
export const listTopics = (): Topic[] => [...subscribers.keys()].filter((topic) => isReadable(guards[topic])).sort();

export const publish = (topic: string, data: unknown): void => {
  for (const { onEvent } of subscribers.get(topic as Topic) ?? []) onEvent?.(data);
};

/** Lets all subscribers, or those of one topic, read the present state. */
export const resync = (topic?: Topic): void => {
  const woken = topic === undefined ? [...subscribers.values()].flatMap((each) => [...each]) : subscribers.get(topic);
  for (const { onResync } of woken ?? []) onResync();
};
