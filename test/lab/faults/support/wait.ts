import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';

const pollMs = 5;
const patienceMs = 30_000;

/** Waits for the condition to hold. If it never does, fails with a message that names the condition. */
export const waitUntil = async (what: string, condition: () => boolean | Promise<boolean>): Promise<void> => {
  for (const deadline = performance.now() + patienceMs; !(await condition()); await setTimeout(pollMs)) {
    assert.ok(performance.now() < deadline, `not within ${patienceMs / 1000} s: ${what}`);
  }
};

/** Waits up to `maxMs`, so that faults hit any point of the server's work. */
export const waitRandomly = (maxMs: number): Promise<void> => setTimeout(Math.random() * maxMs);
