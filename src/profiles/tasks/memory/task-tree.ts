import { applyChange, createParent, findLeaf, type Node, readMemberships, toPlace, width } from './task-node.ts';

/** A tree at a moment. */
export interface TreeView {
  readonly root: Node | undefined;
  /** Ids below each entry of the root. */
  readonly scale: number;
}

/**
 * Texts in the order of their ids, each in some of `setCount` sets (at most 30); every text is in set 0. Whoever reads
 * a set skips what is not in it, so a list costs what is in it, however many tasks there are.
 */
export interface TaskTree {
  find(id: number): string | undefined;
  /** Keeps the text, in place of an earlier one with that id. `memberships` has the bit of each of its sets. */
  put(id: number, text: string, memberships: number): void;
  /** Whether there was a text. */
  remove(id: number): boolean;
  /** How many texts are in the set. */
  count(set: number): number;
  /** The tree as it is, to be read before anything is written. */
  view(): TreeView;
  /** The tree as it is, which stays so: of each node that is written to later, a copy is made first. */
  freeze(): TreeView;
}

export const createTaskTree = (setCount: number): TaskTree => {
  const counts = new Array<number>(setCount).fill(0);
  let version = 0;
  let view: TreeView = { root: undefined, scale: 1 };
  const write = (id: number, text: string | undefined, memberships: number): void => {
    const leaf = findLeafOf(view, id);
    const before = leaf ? readMemberships(leaf, toPlace(id, 1)) : 0;
    for (let set = 0; set < setCount; set += 1) {
      counts[set] = (counts[set] ?? 0) + ((memberships >>> set) & 1) - ((before >>> set) & 1);
    }
    const { root, scale } = raise(view, id, version);
    view = { root: applyChange(root, scale, { id, text, memberships, version, setCount }), scale };
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
