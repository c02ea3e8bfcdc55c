import type { Topics } from 'signalbox/client';
import { isReadable, type RouteName } from '../routes.ts';

/** What the server reports as it happens. */
export type LiveTopic = keyof Topics;

export interface Subscriber<T extends LiveTopic = LiveTopic> {
  /** Receives the data of each event. */
  onEvent(data: Topics[T]): void;
  /** Events may have been missed, or there are none: read the present state. While polling, called every 2 s. */
  onResync(): void;
}

/** The route whose guard also guards the topic. */
const guards: Record<LiveTopic, RouteName> = {
  host: 'getHealth',
  processes: 'listProcesses',
  status: 'getStatus',
  history: 'getHistory',
  top: 'listProcesses',
  tasks: 'listTasks',
  alerts: 'listAlerts',
  incidents: 'listIncidents',
  silences: 'listSilences',
  heartbeats: 'listHeartbeats',
  deliveries: 'listDeliveries',
  oncall: 'getOnCall',
  executions: 'listExecutions',
};

const subscribers = new Map<LiveTopic, Set<Subscriber>>();

export const addSubscriber = (topic: LiveTopic, subscriber: Subscriber): void => {
  const others = subscribers.get(topic) ?? new Set();
  subscribers.set(topic, others.add(subscriber));
};

export const removeSubscriber = (topic: LiveTopic, subscriber: Subscriber): void => {
  const others = subscribers.get(topic);
  others?.delete(subscriber);
  if (others?.size === 0) subscribers.delete(topic);
};

/** Topics that somebody follows and that the present session may see. */
export const listTopics = (): LiveTopic[] =>
  [...subscribers.keys()].filter((topic) => isReadable(guards[topic])).sort();

export const publish = (topic: string, data: unknown): void => {
  for (const { onEvent } of subscribers.get(topic as LiveTopic) ?? []) onEvent(data as never);
};

/** Lets all subscribers, or those of one topic, read the present state. */
export const resync = (topic?: LiveTopic): void => {
  const woken = topic === undefined ? [...subscribers.values()].flatMap((each) => [...each]) : subscribers.get(topic);
  for (const { onResync } of woken ?? []) onResync();
};
