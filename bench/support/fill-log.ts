import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { createAlert } from '../../src/profiles/alerts/alert.ts';
import { createFileNames } from '../../src/storage/journal/files/names.ts';
import { toLine, toLineStart } from '../../src/storage/journal/format/line.ts';

/** signalbox's default segment size. */
const segmentBytes = 64 * 1024 * 1024;
const linesAtOnce = 2000;

/**
 * Writes an alert log with the given number of records, in signalbox's format; returns the number of files and bytes.
 */
export const fillLog = async (directory: string, records: number): Promise<{ files: number; bytes: number }> => {
  await mkdir(directory, { recursive: true });
  const names = createFileNames(directory, 'alerts');
  const written = { files: 0, bytes: 0 };
  for (let seq = 1; seq <= records; ) {
    // The previous file is full: number it only now, so that the last one stays active.
    if (written.files > 0) await rename(names.active, names.closed(written.files));
    const { next, bytes } = await fillFile(names.active, seq, records);
    written.files += 1;
    written.bytes += bytes;
    seq = next;
  }
  return written;
};

const fillFile = async (path: string, first: number, last: number): Promise<{ next: number; bytes: number }> => {
  const stream = createWriteStream(path, { mode: 0o600, flush: true });
  let next = first;
  let bytes = 0;
  while (next <= last && bytes < segmentBytes - linesAtOnce * 500) {
    const end = Math.min(last, next + linesAtOnce - 1);
    let text = '';
    for (; next <= end; next += 1) text += createLine(next);
    bytes += text.length;
    if (!stream.write(text)) await new Promise<void>((resolve) => stream.once('drain', resolve));
  }
  stream.end();
  await finished(stream);
  return { next, bytes };
};

const createLine = (seq: number): string => {
  const alert = createAlert(
    {
      source: 'backup',
      level: seq % 3 === 0 ? 'ERROR' : 'INFO',
      message: `job ${seq} on volume ${seq % 97} ended: ${'copied and checked; '.repeat(8)}`,
      hostname: `web-${seq % 40}.example.org`,
    },
    new Date(1_760_000_000_000 + seq * 1000),
  );
  return toLine(toLineStart({ ...alert }, randomUUID()), seq);
};
