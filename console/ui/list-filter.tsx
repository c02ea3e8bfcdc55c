import { text } from '../strings/index.ts';
import { TextFilter } from './text-filter.tsx';

/** Text filter of a short list, stored in the `q` parameter. */
export const ListFilter = ({ label }: { label: string }) => (
  <search class="filters" aria-label={text.filters}>
    <TextFilter name="q" label={label} type="search" />
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
