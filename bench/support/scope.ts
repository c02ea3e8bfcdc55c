import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { atExit } from '../../test/faults/support/exit.ts';

/** Resources that are set up together and cleaned up together. */
export interface Scope {
  /** A temporary folder, which is deleted last. */
  folder: string;
  /** Registers a cleanup step. Steps run in reverse order; if this process ends before, their synchronous parts do. */
  after(step: () => unknown): void;
  end(): Promise<void>;
}

/** Creates a scope with a new folder in `parent`. */
export const createScope = (parent: string): Scope => {
  const folder = mkdtempSync(join(parent, 'signalbox-bench-'));
  const steps: (() => unknown)[] = [];
  const after = (step: () => unknown): void => void steps.push(step, atExit(step));
  after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return {
    folder,
    after,
    end: async () => {
      for (const step of steps.splice(0).reverse()) await step();
    },
  };
};

/** Runs work in a scope of its own, which ends with it. */
export const withScope = async <T>(parent: string, work: (scope: Scope) => Promise<T>): Promise<T> => {
  const scope = createScope(parent);
  try {
    return await work(scope);
  } finally {
    await scope.end();
  }
};
