import type { FinalTask, Operation } from './history.ts';

export interface IdFaults {
  /** Acknowledged creations with a task that is neither listed nor removed. */
  lost: string[];
  /** Titles shared by several tasks, and ids returned by several creations. */
  duplicated: string[];
  /** Ids that no task has or has had. */
  gaps: number[];
  /** Tasks of creations that were refused as not applied, tasks without a creation, and tasks under a different id. */
  wrong: string[];
}

/**
 * Compares the creations in a history with the final list of tasks after id `base`. The last of these tasks was created
 * after all others. Each creation uses its value as Title.
 */
export const checkIds = (operations: readonly Operation[], list: readonly FinalTask[], base = 0): IdFaults => {
  const creations = operations.filter(({ kind }) => kind === 'create');
  const removed = new Set(
    operations.flatMap(({ kind, outcome, id }) =>
      kind === 'remove' && (outcome === 'ok' || outcome === 'unknown') ? (id ?? []) : [],
    ),
  );
  const byTitle = new Map(creations.map((creation) => [creation.value ?? '', creation]));
  const titleOf = new Map(list.map(({ id, title }) => [id, title]));
  const acknowledged = creations.filter(({ outcome }) => outcome === 'ok');
  const known = new Set([...titleOf.keys(), ...acknowledged.map(({ id }) => id), ...removed]);
  const last = Math.max(base, ...titleOf.keys());
  return {
    lost: acknowledged
      .filter(({ id = 0, value }) => titleOf.get(id) !== value && !(removed.has(id) && !titleOf.has(id)))
      .map(describe),
    duplicated: [
      ...findRepeated(list.map(({ title }) => title)),
      ...findRepeated(list.map(({ id }) => id)),
      ...findRepeated(acknowledged.map(({ id }) => id)),
    ],
    gaps: Array.from({ length: last - base }, (_, index) => base + index + 1).filter((id) => !known.has(id)),
    wrong: list.filter(({ id, title }) => !fits(byTitle.get(title), id)).map(({ id, title }) => `${id} ${title}`),
  };
};

const fits = (creation: Operation | undefined, id: number): boolean =>
  creation?.outcome === 'unknown' || (creation?.outcome === 'ok' && creation.id === id);

const describe = ({ id, value }: Operation): string => `${id} ${value}`;

const findRepeated = (values: readonly unknown[]): string[] => {
  const seen = new Set<unknown>();
  return values.flatMap((value) => {
    if (seen.has(value)) return String(value);
    seen.add(value);
    return [];
  });
};
