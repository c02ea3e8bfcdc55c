import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { requires } from '../lab/faults/support/requirements.ts';
import { createFolder } from './folder.ts';
import type { Scope } from './scope.ts';

/** Program that writes journal files, from Debian's package systemd-journal-remote. */
const writer = '/lib/systemd/systemd-journal-remote';

/** Options for tests that write a journal. */
export const needsJournal = {
  skip:
    requires({ programs: ['journalctl'] }).skip ||
    (!existsSync(writer) && process.env['CI'] !== 'true' && 'systemd-journal-remote is not installed'),
};

/** Fields of an entry other than its times. */
export type Entry = Record<string, string>;

/** Writes a journal with one entry per millisecond up to now. Returns its folder. */
export const writeJournal = async (t: Scope, entries: readonly Entry[]): Promise<string> => {
  const folder = createFolder(t);
  const child = spawn(writer, ['--output', join(folder, 'test.journal'), '-'], { stdio: ['pipe', 'ignore', 'ignore'] });
  const closed = once(child, 'close');
  const start = Date.now() - entries.length;
  Readable.from(toExport(entries, start)).pipe(child.stdin);
  const [code] = await closed;
  if (code !== 0) throw new Error(`${writer} ended with ${code}`);
  return folder;
};

/** Yields the entries in systemd's export format, in pieces. */
function* toExport(entries: readonly Entry[], start: number): Generator<string> {
  const boot = `_BOOT_ID=${'0123456789abcdef'.repeat(2)}\n`;
  let text = '';
  for (const [index, entry] of entries.entries()) {
    const fields = Object.entries(entry).map(([name, value]) => `${name}=${value}\n`);
    text += `__REALTIME_TIMESTAMP=${(start + index) * 1000}\n__MONOTONIC_TIMESTAMP=${index * 1000}\n${boot}`;
    text += `${fields.join('')}\n`;
    if (text.length < 100_000) continue;
    yield text;
    text = '';
  }
  yield text;
}
