import type { Operation } from './history.ts';

/** Value of a task. Null before its creation and after its removal. */
type State = string | null;

/**
 * Groups the operations by task, and returns the groups that no order of operations can explain (Wing and Gong's check,
 * with Lowe's memoization). Operations with an unknown outcome may take effect at any time after their start, or never.
 */
export const findInexplicable = (operations: readonly Operation[]): Operation[][] => {
  const tasks = new Map<number, Operation[]>();
  for (const operation of operations) {
    if (operation.id === undefined || isWithoutEffect(operation)) continue;
    const list = tasks.get(operation.id);
    if (list) list.push(operation);
    else tasks.set(operation.id, [operation]);
  }
  return [...tasks.values()].filter((list) => !isLinearizable(list));
};

const isWithoutEffect = ({ kind, outcome }: Operation): boolean =>
  outcome === 'not-applied' || (kind === 'read' && outcome === 'unknown');

/**
 * True if the answers are explained by some order of the operations on one task in which each takes effect between its
 * start and its end.
 */
export const isLinearizable = (operations: readonly Operation[]): boolean => {
  const sorted = operations.toSorted((a, b) => a.begin - b.begin);
  const ends = sorted.map(({ outcome, end }) => (outcome === 'unknown' ? Number.POSITIVE_INFINITY : end));
  const isDone = sorted.map(() => false);
  const seen = new Set<string>();
  /** Tries orders recursively. `first` is the first pending operation. All earlier operations are done. */
  const search = (state: State, first: number): boolean => {
    let next = first;
    while (isDone[next]) next += 1;
    const key = toKey(state, next, isDone);
    if (seen.has(key)) return false;
    seen.add(key);
    const limit = findFirstEnd(ends, isDone, next);
    if (limit === Number.POSITIVE_INFINITY) return true;
    // The next operation in the order must have begun before any pending operation ended.
    for (let index = next; index < sorted.length; index += 1) {
      const operation = sorted[index];
      if (!operation || operation.begin > limit) break;
      if (isDone[index]) continue;
      const after = apply(operation, state);
      if (after === undefined) continue;
      isDone[index] = true;
      if (search(after, next)) return true;
      isDone[index] = false;
    }
    return false;
  };
  return search(null, 0);
};

const toKey = (state: State, next: number, isDone: readonly boolean[]): string => {
  const later = isDone.flatMap((done, index) => (done && index > next ? index : []));
  return `${state} ${next} ${later}`;
};

/**
 * Returns Infinity if all remaining operations have an unknown outcome, because then none of them has to take effect.
 */
const findFirstEnd = (ends: readonly number[], isDone: readonly boolean[], from: number): number => {
  let first = Number.POSITIVE_INFINITY;
  for (let index = from; index < ends.length; index += 1) {
    if (!isDone[index]) first = Math.min(first, ends[index] ?? first);
  }
  return first;
};

/** Returns the state after an operation. Undefined if the operation's answer is impossible in this state. */
const apply = ({ kind, outcome, value, expected }: Operation, state: State): State | undefined => {
  const isMet = state !== null && (expected === undefined || expected === state);
  if (outcome === 'absent') return state === null ? state : undefined;
  if (outcome === 'conflict') return state !== null && !isMet ? state : undefined;
  if (kind === 'create') return state === null ? (value ?? null) : undefined;
  if (kind === 'read') return state === value ? state : undefined;
  if (!isMet) return undefined;
  return kind === 'update' ? (value ?? null) : null;
};
