import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Something with an end and cleanup steps, usually a test. */
export interface Scope {
  after(tidyUp: () => unknown): void;
}

/** A new folder that is deleted when the scope ends. */
export const createFolder = (t: Scope): string => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-'));
  // A server that still runs may write meanwhile.
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
  return folder;
};
