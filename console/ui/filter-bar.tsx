import type { ComponentChildren } from 'preact';
import { text } from '../strings/index.ts';
import { TextFilter } from './text-filter.tsx';
import { isNarrow } from './virtual.ts';

interface Props {
  /** Names the field for the text `q`. */
  label: string;
  children: ComponentChildren;
}

/** The filters of a list; in narrow windows all but the text are behind a button. */
export const FilterBar = ({ label, children }: Props) => (
  <search class="filters" aria-label={text.filters}>
    <TextFilter name="q" label={label} type="search" />
    {isNarrow.value ? (
      <details class="more-filters">
        <summary>{text.moreFilters}</summary>
        <div class="filters">{children}</div>
      </details>
    ) : (
      children
    )}
  </search>
);
