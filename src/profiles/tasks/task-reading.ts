import { type Node, toPlace, width } from './task-node.ts';
import { asciiSet } from './task-sets.ts';
import type { TreeView } from './task-tree.ts';

/** How far a set has been read. */
export interface Reading {
  readonly set: number;
  /** The least id that has not been looked at. */
  next: number;
  /** How many texts are still wanted. */
  left: number;
  /** Whether all texts so far are ASCII. */
  isAscii: boolean;
}

/**
 * Reads on: the next texts of the set in the order of their ids, until they have `length` characters together or no
 * more are wanted. The caller wants no more than there are.
 */
export const readTexts = ({ root, scale }: TreeView, reading: Reading, length: number): string[] => {
  const found = { texts: [], space: length };
  if (root) readNode(root, scale, 0, reading, found);
  return found.texts;
};

interface Found {
  readonly texts: string[];
  /** Characters that there is still room for. */
  space: number;
}

/** Reads on in a node whose first id is `base`. */
const readNode = (node: Node, scale: number, base: number, reading: Reading, found: Found): void => {
  const start = reading.next > base ? toPlace(reading.next, scale) : 0;
  let members = (node.sets[reading.set] ?? 0) & (-1 << start);
  while (members !== 0 && reading.left > 0 && found.space > 0) {
    const place = 31 - Math.clz32(members & -members);
    members &= members - 1;
    const entry = node.entries[place];
    if (typeof entry === 'string') {
      found.texts.push(entry);
      found.space -= entry.length;
      reading.left -= 1;
      reading.next = base + place + 1;
      reading.isAscii &&= (((node.sets[asciiSet] ?? 0) >>> place) & 1) === 1;
    } else if (entry) {
      readNode(entry, scale / width, base + place * scale, reading, found);
    }
  }
};
