import type { Snapshot } from '../../storage/snapshot.ts';
import { mostDisks } from './columns.ts';
import type { Ring } from './ring.ts';

/** Begins the file; its number changes with the columns. */
const magic = 'signalbox history 1';

/** Names of the disks in the order of their columns. */
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
  const size = rings.reduce((sum, ring) => sum + ring.bytes.length, headerBytes);
  if (bytes?.length !== size) return [];
  const disks = parseHeader(bytes.toString('utf8', 0, headerBytes));
  if (!disks) return [];
  let at = headerBytes;
  for (const ring of rings) {
    ring.load(bytes.subarray(at, at + ring.bytes.length));
    at += ring.bytes.length;
  }
  return disks;
};

const parseHeader = (text: string): Disks | undefined => {
  try {
    const { magic: found, disks } = JSON.parse(text) as { magic?: unknown; disks?: unknown };
    return found === magic &&
      Array.isArray(disks) &&
      disks.length <= mostDisks &&
      disks.every((disk) => typeof disk === 'string')
      ? disks
      : undefined;
  } catch {
    return undefined;
  }
};
