/** Entries of a node: one for each bit of a number. */
const width = 32;

/** A text in a leaf, a node elsewhere. */
type Entry = Node | string | undefined;

interface Node {
  /** The tree's version when the node was created; during that version the node may be changed in place. */
  readonly version: number;
  /** For each set one bit per entry: whether the entry, or anything below it, is in the set. */
  readonly sets: number[];
  readonly entries: Entry[];
}

/** A change at an id: a text with the bits of its sets, or a removal. */
interface Change {
  id: number;
  text: string | undefined;
  memberships: number;
  /** The bits of the sets that the id enters or leaves. */
  touched: number;
  version: number;
  setCount: number;
}

/** A snapshot of a tree. */
export interface TreeView {
  readonly root: Node | undefined;
  /** Ids below each entry of the root. */
  readonly scale: number;
}

/**
 * Texts in the order of their ids, each in some of `setCount` sets (at most 30); every text is in set 0. Reading a set
 * skips all other texts, so the cost of a list depends on its own length and not on the number of tasks.
 */
export interface TaskTree {
  find(id: number): string | undefined;
  /** Stores the text, replacing an earlier one with that id. `memberships` has the bit of each of its sets. */
  put(id: number, text: string, memberships: number): void;
  /** True if there was a text. */
  remove(id: number): boolean;
  /** How many texts are in the set. */
  count(set: number): number;
  /** The current tree, valid until the next write. */
  view(): TreeView;
  /** The current tree as an immutable snapshot: later writes copy each node before they change it. */
  freeze(): TreeView;
}

export const createTaskTree = (setCount: number): TaskTree => {
  const counts = new Array<number>(setCount).fill(0);
  let version = 0;
  let view: TreeView = { root: undefined, scale: 1 };
  const write = (id: number, text: string | undefined, memberships: number): void => {
    const leaf = findLeafOf(view, id);
    const touched = memberships ^ (leaf ? readMemberships(leaf, toPlace(id, 1)) : 0);
    for (let left = touched; left !== 0; left &= left - 1) {
      const set = toLowest(left);
      counts[set] = (counts[set] ?? 0) + ((memberships >>> set) & 1 ? 1 : -1);
    }
    const { root, scale } = raise(view, id, version);
    view = { root: applyChange(root, scale, { id, text, memberships, touched, version, setCount }), scale };
  };
  const find = (id: number): string | undefined => {
    const entry = findLeafOf(view, id)?.entries[toPlace(id, 1)];
    return typeof entry === 'string' ? entry : undefined;
  };
  return {
    find,
    put: write,
    remove: (id) => {
      const isThere = find(id) !== undefined;
      if (isThere) write(id, undefined, 0);
      return isThere;
    },
    count: (set) => counts[set] ?? 0,
    view: () => view,
    freeze: () => {
      version += 1;
      return view;
    },
  };
};

const findLeafOf = ({ root, scale }: TreeView, id: number): Node | undefined =>
  id < scale * width ? findLeaf(root, scale, id) : undefined;

/** The tree with a root that is high enough for the id. */
const raise = ({ root, scale }: TreeView, id: number, version: number): TreeView => {
  if (id < scale * width) return { root, scale };
  return raise({ root: root && createParent(root, version), scale: scale * width }, id, version);
};

/** The position in a set that is being read. */
export interface Cursor {
  readonly set: number;
  /** Whether it is read from the highest id on downwards. */
  readonly isBack?: boolean;
  /** The least id that has not been looked at; the highest one where the set is read backwards. */
  next: number;
  /** How many texts are still to be read, at most. */
  left: number;
}

/** The texts read so far, and how many more characters to read. */
interface Target {
  texts: string[];
  room: number;
}

/** The next texts of the set in the order of their ids: about `room` characters, or as many as are left; none after the last. */
export const readTexts = ({ root, scale }: TreeView, cursor: Cursor, room: number): string[] => {
  const target = { texts: [], room };
  const end = scale * width;
  // Places wrap around: beyond the last id the tree would be read from its other end.
  if (cursor.isBack) cursor.next = Math.min(cursor.next, end - 1);
  if (root && cursor.next >= 0 && cursor.next < end) readNode(root, scale, 0, cursor, target);
  return target.texts;
};

/** Continues reading in a node whose first id is `base` and whose entries have `scale` ids each. */
const readNode = (node: Node, scale: number, base: number, cursor: Cursor, target: Target): void => {
  const { isBack = false } = cursor;
  let waiting = (node.sets[cursor.set] ?? 0) & toWanted(scale, base, cursor);
  while (waiting !== 0 && cursor.left > 0 && target.room > 0) {
    const place = isBack ? 31 - Math.clz32(waiting) : toLowest(waiting);
    waiting &= ~(1 << place);
    const entry = node.entries[place];
    if (typeof entry === 'string') {
      target.texts.push(entry);
      target.room -= entry.length;
      cursor.left -= 1;
      cursor.next = base + place + (isBack ? -1 : 1);
    } else readNode(entry as Node, scale / width, base + place * scale, cursor, target);
  }
};

/** The bits of a node's entries from the position on. */
const toWanted = (scale: number, base: number, { isBack, next }: Cursor): number => {
  if (!isBack) return next <= base ? -1 : -1 << toPlace(next, scale);
  return next >= base + scale * width ? -1 : -1 >>> (width - 1 - toPlace(next, scale));
};

/** Ids of a set: how many, and the last one. */
interface Extent {
  count: number;
  last: number;
}

/** Of the set's ids from `from` on the first `limit`, or all there are. Costs a step for 32 ids. */
export const measureSet = ({ root, scale }: TreeView, set: number, from: number, limit: number): Extent => {
  const extent = { count: 0, last: 0 };
  if (root && limit > 0) measureNode(root, scale, 0, { set, from, limit }, extent);
  return extent;
};

const measureNode = (
  node: Node,
  scale: number,
  base: number,
  asked: { set: number; from: number; limit: number },
  extent: Extent,
): void => {
  const firstPlace = asked.from <= base ? 0 : toPlace(asked.from, scale);
  let waiting = asked.from >= base + scale * width ? 0 : (node.sets[asked.set] ?? 0) & (-1 << firstPlace);
  while (waiting !== 0 && extent.count < asked.limit) {
    const place = toLowest(waiting);
    waiting &= waiting - 1;
    if (scale > 1) {
      measureNode(node.entries[place] as Node, scale / width, base + place * scale, asked, extent);
    } else {
      extent.count += 1;
      extent.last = base + place;
    }
  }
};

/** The place of the lowest bit that is set. */
const toLowest = (bits: number): number => 31 - Math.clz32(bits & -bits);

/** The entry's place in a node whose entries have `scale` ids each. The bits also work on ids past 2^32. */
const toPlace = (id: number, scale: number): number => (id / scale) & (width - 1);

/** The leaf that has, or would have, the id; `scale` is that of the node. */
const findLeaf = (node: Node | undefined, scale: number, id: number): Node | undefined => {
  let entry: Entry = node;
  for (let below = scale; below > 1 && typeof entry === 'object'; below /= width) {
    entry = entry.entries[toPlace(id, below)];
  }
  return typeof entry === 'object' ? entry : undefined;
};

/** The node with the change: itself if it is of this version, else a copy; undefined if it is now empty. */
const applyChange = (node: Node | undefined, scale: number, change: Change): Node | undefined => {
  const changed = toOwn(node, change);
  const place = toPlace(change.id, scale);
  let child: Node | undefined;
  if (scale === 1) changed.entries[place] = change.text;
  else {
    const entry = changed.entries[place];
    child = applyChange(typeof entry === 'object' ? entry : undefined, scale / width, change);
    changed.entries[place] = child;
  }
  for (let left = change.touched; left !== 0; left &= left - 1) {
    const set = toLowest(left);
    const isIn = scale === 1 ? (change.memberships >>> set) & 1 : child?.sets[set];
    const others = (changed.sets[set] ?? 0) & ~(1 << place);
    changed.sets[set] = isIn ? others | (1 << place) : others;
  }
  return changed.sets[0] === 0 ? undefined : changed;
};

/** A node one level up whose first entry is `node`. */
const createParent = (node: Node, version: number): Node => {
  const parent = toOwn(undefined, { version, setCount: node.sets.length });
  parent.entries[0] = node;
  for (const [set, word] of node.sets.entries()) parent.sets[set] = word === 0 ? 0 : 1;
  return parent;
};

/** The sets that the entry at a place is in. */
const readMemberships = ({ sets, entries }: Node, place: number): number =>
  entries[place] === undefined ? 0 : sets.reduce((bits, word, set) => bits | (((word >>> place) & 1) << set), 0);

const toOwn = (node: Node | undefined, { version, setCount }: Pick<Change, 'version' | 'setCount'>): Node => {
  if (node?.version === version) return node;
  if (node) return { version, sets: node.sets.slice(), entries: node.entries.slice() };
  return {
    version,
    sets: new Array(setCount).fill(0),
    entries: new Array(width).fill(undefined),
  };
};
