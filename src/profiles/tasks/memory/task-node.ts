/** Entries of a node: as many as a number has bits. */
export const width = 32;

/** A text in a leaf, a node elsewhere. */
type Entry = Node | string | undefined;

export interface Node {
  /** The version of the tree that made the node; while it lasts the node may be changed in place. */
  readonly version: number;
  /** For each set one bit per entry: whether the entry, or anything below it, is in the set. */
  readonly sets: number[];
  readonly entries: Entry[];
}

/** What is to be at an id: a text with the bits of its sets, or nothing. */
export interface Change {
  id: number;
  text: string | undefined;
  memberships: number;
  version: number;
  setCount: number;
}

/** The entry's place in a node whose entries have `scale` ids each. The bits also work on ids past 2^32. */
export const toPlace = (id: number, scale: number): number => (id / scale) & (width - 1);

/** The leaf that has, or would have, the id; `scale` is that of the node. */
export const findLeaf = (node: Node | undefined, scale: number, id: number): Node | undefined => {
  let entry: Entry = node;
  for (let below = scale; below > 1 && typeof entry === 'object'; below /= width) {
    entry = entry.entries[toPlace(id, below)];
  }
  return typeof entry === 'object' ? entry : undefined;
};

/** The node with the change: itself where it is this version's, else a copy; undefined when it is empty by now. */
export const applyChange = (node: Node | undefined, scale: number, change: Change): Node | undefined => {
  const { id, text, memberships } = change;
  const changed = toOwn(node, change);
  const place = toPlace(id, scale);
  if (scale === 1) {
    changed.entries[place] = text;
    markSets(changed, place, memberships);
  } else {
    const entry = changed.entries[place];
    const child = applyChange(typeof entry === 'object' ? entry : undefined, scale / width, change);
    changed.entries[place] = child;
    markSets(changed, place, child ? toNonEmptySets(child) : 0);
  }
  return changed.sets[0] === 0 ? undefined : changed;
};

/** A node one level up whose first entry is `node`. */
export const createParent = (node: Node, version: number): Node => {
  const parent = toOwn(undefined, { version, setCount: node.sets.length });
  parent.entries[0] = node;
  markSets(parent, 0, toNonEmptySets(node));
  return parent;
};

/** The sets that the entry at a place is in. */
export const readMemberships = ({ sets }: Node, place: number): number =>
  sets.reduce((bits, word, set) => bits | (((word >>> place) & 1) << set), 0);

const toOwn = (node: Node | undefined, { version, setCount }: Pick<Change, 'version' | 'setCount'>): Node => {
  if (node?.version === version) return node;
  if (node) return { version, sets: node.sets.slice(), entries: node.entries.slice() };
  return {
    version,
    sets: new Array(setCount).fill(0),
    entries: new Array(width).fill(undefined),
  };
};

const markSets = ({ sets }: Node, place: number, memberships: number): void => {
  for (let set = 0; set < sets.length; set += 1) {
    const others = (sets[set] ?? 0) & ~(1 << place);
    sets[set] = others | (((memberships >>> set) & 1) << place);
  }
};

const toNonEmptySets = ({ sets }: Node): number =>
  sets.reduce((bits, word, set) => bits | (word === 0 ? 0 : 1 << set), 0);
