import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Something that ends and is tidied up then: a test, as a rule. */
export interface Scope {
  after(tidyUp: () => unknown): void;
}

/** A new folder, removed when the scope ends. */
export const createFolder = (t: Scope): string => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};
