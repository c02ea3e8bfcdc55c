import type { Heartbeat, HeartbeatList, RecentRun } from 'signalbox/client';
import { client } from '../api.ts';
import { useRereading } from '../live/rereading.ts';
import { type Resource, useResource } from '../live/resource.ts';

/** Number of runs shown per heartbeat. */
const runs = 20;

/** Milliseconds between reloads. Events report pings and state changes, but not changed definitions. */
const rereadEvery = 60_000;

/** Loads all heartbeats with their last runs, updated live. */
export const useHeartbeats = (): Resource<HeartbeatList> => {
  const load = (signal: AbortSignal) => client.listHeartbeats({ runs }, { signal });
  const resource = useResource<HeartbeatList, 'heartbeats'>(load, { topic: 'heartbeats', apply });
  useRereading(resource, rereadEvery);
  return resource;
};

/** Applies an event to the list. The event contains only the last run and no secrets. */
const apply = (changed: Heartbeat, before: HeartbeatList | undefined): HeartbeatList | undefined => {
  const known = before?.data.find(({ name }) => name === changed.name);
  if (!before) return before;
  const next = { ...changed, uuid: known?.uuid ?? changed.uuid, recentRuns: addRun(known, changed.lastRun) };
  const data = known
    ? before.data.map((each) => (each === known ? next : each))
    : [...before.data, next].sort((one, other) => (one.name < other.name ? -1 : 1));
  return { count: data.length, data };
};

/** Adds a run. A finished run replaces the entry for its start. */
const addRun = (known: Heartbeat | undefined, run: Heartbeat['lastRun']): RecentRun[] => {
  const all = known?.recentRuns ?? [];
  const at = run?.endedAt ?? run?.startedAt;
  if (!run || !at) return all;
  const isRunning = all.at(-1)?.result === 'running' && known?.lastRun?.startedAt === run.startedAt;
  const isSame = all.at(-1)?.at === at;
  const others = isRunning || isSame ? all.slice(0, -1) : all;
  return [...others, { at, durationMs: run.durationMs, result: run.result }].slice(-runs);
};
