import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';

const pollMs = 5;
const patienceMs = 30_000;

/** Lets time pass until the condition holds; fails, naming it, when it never does. */
export const waitUntil = async (what: string, condition: () => boolean | Promise<boolean>): Promise<void> => {
  for (const deadline = performance.now() + patienceMs; !(await condition()); await setTimeout(pollMs)) {
    assert.ok(performance.now() < deadline, `in ${patienceMs / 1000} s it never came to this: ${what}`);
  }
};

/** Lets up to `maxMs` pass, so that a fault meets the server at any point of its work. */
export const waitRandomly = (maxMs: number): Promise<void> => setTimeout(Math.random() * maxMs);
