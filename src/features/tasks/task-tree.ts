/** Number of entries per node, one for each bit of a number. */
const width = 32;

/** Text in a leaf, otherwise a node. */
type Entry = Node | string | undefined;

interface Node {
  /** Version of the tree that created the node. Only that version may change the node in place. */
  readonly version: number;
  /**
   * Numbers with one bit per entry, one number per set. A bit is 1 if the entry at its position, or an entry below it,
   * is in the set.
   */
  readonly sets: number[];
  readonly entries: Entry[];
}

/** Change at an id: a string with the bits of its sets, or a removal. */
interface Change {
  id: number;
  text: string | undefined;
  memberships: number;
  /** Bits of the sets that the id joins or leaves. */
  touched: number;
  version: number;
  setCount: number;
}

/** State of a tree, for readers. */
export interface TreeView {
  readonly root: Node | undefined;
  /** Number of ids below each entry of the root. */
  readonly scale: number;
}

/**
 * Strings in id order. Each string belongs to some of `setCount` sets (at most 30), and always to set 0. Reading a set
 * skips all strings outside it. The cost of a list therefore depends on its own length, not on the number of tasks.
 */
export interface TaskTree {
  find(id: number): string | undefined;
  /** Stores or replaces the text of an id. `memberships` contains the bits of its sets. */
  put(id: number, text: string, memberships: number): void;
  /** Removes the text of an id. Returns true if there was one. */
  remove(id: number): boolean;
  /** Number of strings in a set. */
  count(set: number): number;
  /** Returns the current tree. Valid until the next write. */
  view(): TreeView;
  /** Returns the current tree. Later writes do not change it, because they copy nodes before changing them. */
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

/** Returns the tree with a root that is high enough for an id. */
const raise = ({ root, scale }: TreeView, id: number, version: number): TreeView => {
  if (id < scale * width) return { root, scale };
  return raise({ root: root && createParent(root, version), scale: scale * width }, id, version);
};

/** Position of a reader in a set. */
export interface Cursor {
  readonly set: number;
  /** True if the reader goes from the highest id downwards. */
  readonly isBack?: boolean;
  /** Next id to read. */
  next: number;
  /** Maximum number of strings left to read. */
  left: number;
}

/** Strings that have been read, and number of characters that may still be read. */
interface Target {
  texts: string[];
  room: number;
}

/** Reads the next strings of a set in id order, up to about `room` characters. Reads nothing after the last string. */
export const readTexts = ({ root, scale }: TreeView, cursor: Cursor, room: number): string[] => {
  const target = { texts: [], room };
  const end = scale * width;
  // Beyond the last id, places would wrap around.
  if (cursor.isBack) cursor.next = Math.min(cursor.next, end - 1);
  if (root && cursor.next >= 0 && cursor.next < end) readNode(root, scale, 0, cursor, target);
  return target.texts;
};

/** Reads strings in a node whose first id is `base`, with `scale` ids per entry. */
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

/** Returns the bits of the entries from the reader's position onwards. */
const toWanted = (scale: number, base: number, { isBack, next }: Cursor): number => {
  if (!isBack) return next <= base ? -1 : -1 << toPlace(next, scale);
  return next >= base + scale * width ? -1 : -1 >>> (width - 1 - toPlace(next, scale));
};

/** Number of ids, and the last id. */
interface Extent {
  count: number;
  last: number;
}

/** Measures the first `limit` ids of a set, beginning at `from`, in steps of 32 ids. */
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

/** Returns the position of the lowest bit that is 1. */
const toLowest = (bits: number): number => 31 - Math.clz32(bits & -bits);

/** Returns the position of an id in a node with `scale` ids per entry. Also works for ids above 2^32. */
const toPlace = (id: number, scale: number): number => (id / scale) & (width - 1);

/** Finds the leaf for an id below a node with `scale` ids per entry. */
const findLeaf = (node: Node | undefined, scale: number, id: number): Node | undefined => {
  let entry: Entry = node;
  for (let below = scale; below > 1 && typeof entry === 'object'; below /= width) {
    entry = entry.entries[toPlace(id, below)];
  }
  return typeof entry === 'object' ? entry : undefined;
};

/**
 * Applies a change to a node of this version or, if the node is older, to a copy. Returns undefined if the node becomes
 * empty.
 */
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

/** Creates a node one level up whose first entry is `node`. */
const createParent = (node: Node, version: number): Node => {
  const parent = toOwn(undefined, { version, setCount: node.sets.length });
  parent.entries[0] = node;
  for (const [set, word] of node.sets.entries()) parent.sets[set] = word === 0 ? 0 : 1;
  return parent;
};

/** Returns the sets of the entry at a position. */
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
