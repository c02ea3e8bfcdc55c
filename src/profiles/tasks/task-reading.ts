import type { Joins } from './task-joins.ts';
import { type Joined, type Node, toPlace, width } from './task-node.ts';
import { asciiSet } from './task-sets.ts';
import type { TreeView } from './task-tree.ts';

/** How far a set has been read. */
export interface Reading {
  readonly set: number;
  /** The least id that has not been looked at. */
  next: number;
  /** How many texts are still wanted: no more than there are. */
  left: number;
  /** Characters that there is still room for. */
  space: number;
  /** Keeps what is read whole; nothing does where it is read but once. */
  readonly joins?: Joins | undefined;
}

const nothing: Joined = { text: '', count: 0, isAscii: true, isWhole: true };

/**
 * Reads on: the next texts of the set in the order of their ids, joined by commas, until there is no more room or no
 * more are wanted. There may be a few more characters than there was room for.
 */
export const readTexts = ({ root, scale }: TreeView, reading: Reading): Joined =>
  root ? readNode(root, scale, 0, reading) : nothing;

/** Reads on in a node whose first id is `base`. */
const readNode = (node: Node, scale: number, base: number, reading: Reading): Joined => {
  const isUnread = reading.next <= base;
  const known = isUnread ? node.joined?.[reading.set] : undefined;
  if (known && known.count <= reading.left) {
    reading.left -= known.count;
    reading.space -= known.text.length;
    reading.next = base + scale * width;
    return known;
  }
  const members = (node.sets[reading.set] ?? 0) & (-1 << (isUnread ? 0 : toPlace(reading.next, scale)));
  const joined =
    scale === 1 ? joinLeaf(node, base, members, reading) : joinNode(node, scale, base, members, reading);
  if (isUnread) reading.joins?.keep(node, scale, reading.set, joined);
  return joined;
};

const joinLeaf = ({ entries, sets }: Node, base: number, members: number, reading: Reading): Joined => {
  const texts: string[] = [];
  let waiting = members;
  while (waiting !== 0 && reading.left > 0 && reading.space > 0) {
    const place = toLowest(waiting);
    waiting &= waiting - 1;
    const text = entries[place] as string;
    texts.push(text);
    reading.left -= 1;
    reading.space -= text.length;
    reading.next = base + place + 1;
  }
  const isAscii = (members & ~waiting & ~(sets[asciiSet] ?? 0)) === 0;
  return { text: texts.join(','), count: texts.length, isAscii, isWhole: waiting === 0 };
};

/** Adds texts one to the other, which copies none: they are few and long, and copied once, when they are sent. */
const joinNode = (node: Node, scale: number, base: number, members: number, reading: Reading): Joined => {
  let { text, count, isAscii, isWhole } = nothing;
  let waiting = members;
  while (waiting !== 0 && reading.left > 0 && reading.space > 0) {
    const place = toLowest(waiting);
    waiting &= waiting - 1;
    const found = readNode(node.entries[place] as Node, scale / width, base + place * scale, reading);
    if (found.count > 0) text = count > 0 ? `${text},${found.text}` : found.text;
    count += found.count;
    isAscii &&= found.isAscii;
    isWhole &&= found.isWhole;
  }
  return { text, count, isAscii, isWhole: isWhole && waiting === 0 };
};

/** The place of the lowest bit that is set. */
const toLowest = (bits: number): number => 31 - Math.clz32(bits & -bits);
