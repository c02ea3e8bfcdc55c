import type { Topics } from 'signalbox/client';
import { isReadable, type RouteName } from '../routes.ts';

export type LiveTopic = keyof Topics;

export interface Subscriber<T extends LiveTopic = LiveTopic> {
  /** Handles an event's data. */
  onEvent(data: Topics[T]): void;
  /** Handles missed events by reloading the current state. Called every 2 s while polling. */
  onResync(): void;
}

/** Route for each topic whose access rules also apply to the topic. */
const guards: Record<LiveTopic, RouteName> = {
  host: 'getHealth',
  hosts: 'listHosts',
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

/** Topics with subscribers that the current session may read. */
export const listTopics = (): LiveTopic[] =>
  [...subscribers.keys()].filter((topic) => isReadable(guards[topic])).sort();

export const publish = (topic: string, data: unknown): void => {
  for (const { onEvent } of subscribers.get(topic as LiveTopic) ?? []) onEvent(data as never);
};

/** Makes the subscribers of one topic, or of all topics, reload. */
export const resync = (topic?: LiveTopic): void => {
  const woken = topic === undefined ? [...subscribers.values()].flatMap((each) => [...each]) : subscribers.get(topic);
  for (const { onResync } of woken ?? []) onResync();
};
