import { setTimeout } from 'node:timers/promises';
import { describePerson } from '../../profiles/people.ts';
import type { Narrator } from './narrator.ts';
import type { Stage } from './stage.ts';

const pollMs = 100;

interface Incident {
  number: number;
  state: string;
  level: string;
  title: string;
  acknowledgedBy: string | null;
  resolvedBy: string | null;
}

interface Heartbeat {
  name: string;
  state: string;
}

/** Tells how incidents and heartbeats change, until the signal is aborted. */
export const watchIncidents = async ({ call }: Stage, { tell }: Narrator, signal: AbortSignal): Promise<void> => {
  const known = new Map<string, string>();
  /** Whether the thing is in another state than before. */
  const isNews = (thing: string, state: string): boolean => {
    const isSame = known.get(thing) === state;
    known.set(thing, state);
    return !isSame;
  };
  for (; !signal.aborted; await setTimeout(pollMs, undefined, { signal })) {
    const beats = (await call('anna', 'GET', '/api/heartbeats'))['data'] as Heartbeat[];
    for (const { name, state } of beats) {
      const what = states[state];
      if (isNews(name, state) && what !== undefined) tell('machine', 'heartbeat', `${name} ${what}`);
    }
    const incidents = (await call('anna', 'GET', '/api/incidents?state=all'))['data'] as Incident[];
    for (const incident of incidents.toReversed()) {
      if (isNews(`#${incident.number}`, incident.state)) {
        tell('incident', `incident #${incident.number}`, describe(incident));
      }
    }
  }
};

const states: Record<string, string> = {
  up: 'is up',
  late: 'is late',
  down: 'is down: it did not run in time',
};

const describe = ({ state, level, title, acknowledgedBy, resolvedBy }: Incident): string => {
  if (state === 'acknowledged') return `is acknowledged by ${toActor(acknowledgedBy)}`;
  return state === 'resolved' ? `is resolved by ${toActor(resolvedBy)}: ${title}` : `opens: ${level} ${title}`;
};

const toActor = (name: string | null): string => (name === null ? 'its sender' : describePerson(name));
