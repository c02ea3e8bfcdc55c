import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd, type Scope } from './scope.ts';

/** Creates a folder that is deleted when the scope ends. */
export const createFolder = (t: Scope): string => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-'));
  atEnd(t, () => rmSync(folder, { recursive: true, force: true }));
  return folder;
};
