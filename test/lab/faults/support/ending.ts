import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { atExit } from './exit.ts';

type Step = () => unknown;

const steps = new WeakMap<TestContext, Step[]>();

/** Runs a step when the test ends. Steps run in reverse order of registration. */
export const atEnd = (t: TestContext, step: Step): void => {
  const forget = atExit(step);
  const once = (): unknown => {
    forget();
    return step();
  };
  const known = steps.get(t);
  if (known) {
    known.push(once);
    return;
  }
  const list = [once];
  steps.set(t, list);
  t.after(() => undo(list));
};

/** Creates a folder that is deleted when the test ends, after all steps registered later. */
export const createTemporaryFolder = (t: TestContext): string => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-faults-'));
  atEnd(t, () => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

const undo = async (list: Step[]): Promise<void> => {
  const failures: unknown[] = [];
  for (const step of list.reverse()) {
    try {
      await step();
    } catch (error) {
      failures.push(error);
    }
  }
  assert.deepEqual(failures, []);
};
