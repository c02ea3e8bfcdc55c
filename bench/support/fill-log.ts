import { createWriteStream } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { createAlert } from '../../src/profiles/alerts/alert.ts';
import { createFileNames } from '../../src/storage/journal/files/names.ts';
import { createId } from '../../src/storage/journal/format/id.ts';
import { toLine, toLineStart } from '../../src/storage/journal/format/line.ts';

/** signalbox's default segment size. */
const segmentBytes = 64 * 1024 * 1024;
const linesAtOnce = 2000;

interface Part {
  /** The seq of the first record. */
  first: number;
  /** When the record before seq 1 was received; there is one in each second. Unix milliseconds. */
  startedAt: number;
}

/** Writes an alert log of so many records, as signalbox would have; answers its files and bytes. */
export const fillLog = async (
  directory: string,
  records: number,
  { first, startedAt }: Part = { first: 1, startedAt: 1_760_000_000_000 },
): Promise<{ files: number; bytes: number }> => {
  await mkdir(directory, { recursive: true });
  const names = createFileNames(directory, 'alerts');
  const written = { files: 0, bytes: 0 };
  const last = first + records - 1;
  for (let seq = first; seq <= last; ) {
    // The file before this one is full: it gets its number now, so that the last one keeps none.
    if (written.files > 0) await rename(names.active, names.closed(written.files));
    const { next, bytes } = await fillFile(names.active, { seq, last, startedAt });
    written.files += 1;
    written.bytes += bytes;
    seq = next;
  }
  return written;
};

const fillFile = async (
  path: string,
  { seq, last, startedAt }: { seq: number; last: number; startedAt: number },
): Promise<{ next: number; bytes: number }> => {
  const stream = createWriteStream(path, { mode: 0o600, flush: true });
  let next = seq;
  let bytes = 0;
  while (next <= last && bytes < segmentBytes - linesAtOnce * 500) {
    const end = Math.min(last, next + linesAtOnce - 1);
    let text = '';
    for (; next <= end; next += 1) text += createLine(next, startedAt + next * 1000);
    bytes += text.length;
    if (!stream.write(text)) await new Promise<void>((resolve) => stream.once('drain', resolve));
  }
  stream.end();
  await finished(stream);
  return { next, bytes };
};

const createLine = (seq: number, time: number): string => {
  const alert = createAlert(
    {
      source: 'backup',
      level: seq % 3 === 0 ? 'ERROR' : 'INFO',
      message: `job ${seq} on volume ${seq % 97} ended: ${'copied and checked; '.repeat(8)}`,
      hostname: `web-${seq % 40}.example.org`,
    },
    { now: new Date(time), sender: 'address:127.0.0.1' },
  );
  return toLine(toLineStart({ ...alert }, createId(time)), seq);
};
