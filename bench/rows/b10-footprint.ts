import { setTimeout } from 'node:timers/promises';
import { createBare, createJsonServer } from '../support/opponents.ts';
import { readResidentBytes } from '../support/process-cost.ts';
import { takeTurns } from '../support/rounds.ts';
import { createScope } from '../support/scope.ts';
import type { Server } from '../support/server.ts';
import { startSignalbox } from '../support/signalbox.ts';
import type { Bench, Row } from './row.ts';

/** Pause after the first response before memory is read. */
const idleMs = 1000;

type Start = (scope: Bench['scope']) => Promise<Server>;

/** Startup time and idle memory. No server is pinned to a processor. */
export const footprint: Row = {
  id: 'B10',
  measure: async ({ scope, rounds }) => {
    const starts: Start[] = [
      (each) => startSignalbox(each, undefined),
      (each) => createBare('{}', 'text')(each, undefined),
      (each) => createJsonServer([])(each, undefined),
    ];
    const resident = starts.map((): number[] => []);
    const sides = starts.map((start, side) => async () => {
      const each = createScope(scope.folder);
      const { startMs, pid } = await start(each);
      await setTimeout(idleMs);
      resident[side]?.push(readResidentBytes(pid) / 2 ** 20);
      await each.end();
      return startMs;
    });
    const [ours = [], bare = [], jsonServer = []] = await takeTurns(rounds, sides);
    const [ofOurs = [], ofBare = [], ofJsonServer = []] = resident;
    const start = { id: 'B10', work: 'start to first response', unit: ' ms', ours };
    const memory = { id: 'B10', work: 'resident memory, idle', unit: ' MiB', ours: ofOurs };
    return [
      {
        ...start,
        beside: { name: 'node:http', figures: bare },
        goals: [
          { of: 'value', atMost: 400 },
          { of: 'ratio', atMost: 3 },
        ],
      },
      { ...start, beside: { name: 'json-server', figures: jsonServer }, goals: [] },
      {
        ...memory,
        beside: { name: 'json-server', figures: ofJsonServer },
        goals: [{ of: 'value', atMost: 90 }],
      },
      { ...memory, beside: { name: 'node:http', figures: ofBare }, goals: [] },
    ];
  },
};
