import type { ComponentChildren } from 'preact';
import { text } from '../strings/index.ts';
import { TextFilter } from './text-filter.tsx';

interface Props {
  label: string;
  /** Further filters. */
  children?: ComponentChildren;
}

/** Text filter of a short list, stored in the `q` parameter. */
export const ListFilter = ({ label, children }: Props) => (
  <search class="filters" aria-label={text.filters}>
    <TextFilter name="q" label={label} type="search" />
    {children}
  </search>
);

/** True if the text contains every word of the query. */
export const containsWords = (written: string, query = ''): boolean => {
  const lower = written.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
};
