import type { ComponentChildren } from 'preact';
import { place } from '../router.ts';
import { text } from '../strings/index.ts';
import { TextFilter } from './text-filter.tsx';
import { isNarrow } from './virtual.ts';

interface Props {
  /** Names the field for the text `q`. */
  label: string;
  /** The parameters of the address that the other filters set. */
  others: readonly string[];
  children: ComponentChildren;
}

/** The filters of a list; in narrow windows all but the text are behind a button that says how many are on. */
export const FilterBar = ({ label, others, children }: Props) => (
  <search class="filters" aria-label={text.filters}>
    <TextFilter name="q" label={label} type="search" />
    {isNarrow.value ? (
      <details class="more-filters">
        <summary>{text.moreFilters(others.filter((name) => place.value.params[name]).length)}</summary>
        <div class="filters">{children}</div>
      </details>
    ) : (
      children
    )}
  </search>
);
