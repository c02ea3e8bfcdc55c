import type { Snapshot } from '../../storage/snapshot.ts';
import { alertLevels, alertsAt, columnCount, mostDisks } from './columns.ts';
import type { Ring } from './ring.ts';

/** Begins the file; its number changes with the columns. */
const magic = 'signalbox history 2';

/** The same with one more column, after those of the severities: alerts with unknown levels, which are warnings now. */
const formerMagic = 'signalbox history 1';

/** Names of the disks in the order of their columns; an empty one is that of columns that are free. */
export type Disks = string[];

/** Bytes of the first line, which is padded, so that the numbers that follow are aligned. */
const headerBytes = 4096;

/** Writes the rings and the names of the disks. */
export const saveHistory = (file: Snapshot, rings: readonly Ring[], disks: Disks): Promise<void> => {
  const header = Buffer.alloc(headerBytes, ' ');
  // Mount paths that are longer together than the header has room for are not worth keeping.
  const text = JSON.stringify({ magic, disks });
  header.write(Buffer.byteLength(text) < headerBytes ? text : JSON.stringify({ magic, disks: [] }));
  return file.write(Buffer.concat([header, ...rings.map(({ bytes }) => bytes)]));
};

/** Fills the rings from the file and returns the names of the disks. A file that does not fit is ignored. */
export const loadHistory = async (file: Snapshot, rings: readonly Ring[]): Promise<Disks> => {
  const bytes = await file.read();
  const header = bytes && parseHeader(bytes.toString('utf8', 0, headerBytes));
  if (!header) return [];
  const isFormer = header.magic === formerMagic;
  const sizeOf = (ring: Ring): number => ring.bytes.length + (isFormer ? columnBytes(ring) : 0);
  if (bytes.length !== rings.reduce((sum, ring) => sum + sizeOf(ring), headerBytes)) return [];
  let at = headerBytes;
  for (const ring of rings) {
    const own = bytes.subarray(at, at + sizeOf(ring));
    ring.load(isFormer ? dropUnknownLevels(own, columnBytes(ring)) : own);
    at += own.length;
  }
  return header.disks;
};

const parseHeader = (text: string): { magic: string; disks: Disks } | undefined => {
  try {
    const { magic: found, disks } = JSON.parse(text) as { magic?: unknown; disks?: unknown };
    return (found === magic || found === formerMagic) &&
      Array.isArray(disks) &&
      disks.length <= mostDisks &&
      disks.every((disk) => typeof disk === 'string')
      ? { magic: found, disks }
      : undefined;
  } catch {
    return undefined;
  }
};

/** Bytes of one column of a ring, whose first one has the times. */
const columnBytes = ({ bytes }: Ring): number => bytes.length / (1 + columnCount);

/** The columns of a former ring without that of unknown levels, which are added to the warnings. */
const dropUnknownLevels = (former: Buffer, length: number): Uint8Array => {
  const columnAt = (column: number): number => (1 + column) * length;
  const [warning, unknown] = [
    columnAt(alertsAt + alertLevels.indexOf('warning')),
    columnAt(alertsAt + alertLevels.length),
  ];
  const columns = Buffer.concat([former.subarray(0, unknown), former.subarray(unknown + length)]);
  for (let at = 0; at < length; at += Float32Array.BYTES_PER_ELEMENT) {
    const sum = former.readFloatLE(warning + at) + former.readFloatLE(unknown + at);
    if (!Number.isNaN(sum)) columns.writeFloatLE(sum, warning + at);
  }
  return columns;
};
