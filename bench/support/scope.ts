import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { atExit } from '../../test/faults/support/exit.ts';

type Step = () => unknown;

/** What is set up for a while, and undone together. */
export interface Scope {
  /** A folder of its own. */
  folder: string;
  /** Undone before what was set up earlier. */
  atEnd(step: Step): void;
  /** Undoes everything, the folder last. */
  end(): Promise<void>;
}

/** A scope with a new folder in another; the folder goes with this process at the latest. */
export const createScope = (parent: string): Scope => {
  const folder = mkdtempSync(join(parent, 'signalbox-bench-'));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  const forget = atExit(remove);
  const steps: Step[] = [forget, remove];
  return {
    folder,
    atEnd: (step) => void steps.push(step),
    end: async () => {
      for (const step of steps.splice(0).reverse()) await step();
    },
  };
};
