import { type Node, toPlace, width } from './task-node.ts';
import type { TreeView } from './task-tree.ts';

/** How far a set has been read. */
export interface Cursor {
  readonly set: number;
  /** The least id that has not been looked at. */
  next: number;
  /** How many texts are still wanted: no more than there are. */
  left: number;
}

/** The texts read so far, and how many more characters of them are wanted. */
interface Target {
  texts: string[];
  room: number;
}

/** The next texts of the set in the order of their ids: about `room` characters, or as many as are left. */
export const readTexts = ({ root, scale }: TreeView, cursor: Cursor, room: number): string[] => {
  const target = { texts: [], room };
  if (root) readNode(root, scale, 0, cursor, target);
  return target.texts;
};

/** Reads on in a node whose first id is `base` and whose entries have `scale` ids each. */
const readNode = (node: Node, scale: number, base: number, cursor: Cursor, target: Target): void => {
  const firstPlace = cursor.next <= base ? 0 : toPlace(cursor.next, scale);
  let waiting = (node.sets[cursor.set] ?? 0) & (-1 << firstPlace);
  while (waiting !== 0 && cursor.left > 0 && target.room > 0) {
    const place = toLowest(waiting);
    waiting &= waiting - 1;
    const entry = node.entries[place];
    if (typeof entry === 'string') {
      target.texts.push(entry);
      target.room -= entry.length;
      cursor.left -= 1;
      cursor.next = base + place + 1;
    } else readNode(entry as Node, scale / width, base + place * scale, cursor, target);
  }
};

/** The place of the lowest bit that is set. */
const toLowest = (bits: number): number => 31 - Math.clz32(bits & -bits);
