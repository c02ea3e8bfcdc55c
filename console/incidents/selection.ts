import { signal } from '@preact/signals';

/** Ids of selected incidents. */
const selection = signal<ReadonlySet<string>>(new Set());

export const isSelected = (id: string): boolean => selection.value.has(id);

export const toggle = (id: string): void => {
  const next = new Set(selection.value);
  if (!next.delete(id)) next.add(id);
  selection.value = next;
};

export const select = (ids: readonly string[]): void => {
  selection.value = new Set(ids);
};

export const clearSelection = (): void => select([]);
