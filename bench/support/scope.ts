import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { atExit } from '../../test/faults/support/exit.ts';

/** Resources that are set up together and cleaned up together. */
export interface Scope {
  /** A temporary folder. */
  folder: string;
  /** Registers a cleanup step; steps run in reverse order. */
  after(step: () => unknown): void;
  /** Runs all cleanup steps; the folder is deleted last. */
  end(): Promise<void>;
}

/** Creates a scope with a new folder in `parent`; the folder is deleted when this process ends at the latest. */
export const createScope = (parent: string): Scope => {
  const folder = mkdtempSync(join(parent, 'signalbox-bench-'));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  const steps: (() => unknown)[] = [atExit(remove), remove];
  return {
    folder,
    after: (step) => void steps.push(step),
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
