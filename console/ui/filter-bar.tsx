import type { ComponentChildren } from 'preact';
import type { AddressFilter } from '../list-address.ts';
import { place } from '../router.ts';
import { text } from '../strings/index.ts';
import { IconButton } from './icon-button.tsx';
import { Empty, NoMatch } from './panel.tsx';
import { TextFilter } from './text-filter.tsx';
import { isNarrow } from './virtual.ts';

interface Props {
  /** Label of the text filter. */
  label: string;
  /** URL parameters of the other filters. */
  others: readonly string[];
  children: ComponentChildren;
}

/**
 * Filters of a list. In narrow windows, a button that shows the number of active filters opens all but the text filter.
 */
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

type Clearable = Pick<AddressFilter<string>, 'isSet' | 'clear'>;

/** Button that removes all filters of a list. */
export const ClearButton = ({ filter }: { filter: Clearable }) => (
  <IconButton icon="close" label={text.clear} kind="quiet" isDisabled={!filter.isSet()} onClick={filter.clear} />
);

interface NoRowsProps {
  filter: Clearable;
  words: Record<'noMatch' | 'noMatchHint' | 'empty' | 'emptyHint', string>;
  /** Content for a list that is empty even without filters. */
  children?: ComponentChildren;
}

/** Placeholder for a list without rows, either because nothing matches or because there is no data. */
export const NoRows = ({ filter, words, children }: NoRowsProps) =>
  filter.isSet() ? (
    <NoMatch title={words.noMatch} hint={words.noMatchHint} onClear={filter.clear} />
  ) : (
    <Empty title={words.empty} hint={words.emptyHint}>
      {children}
    </Empty>
  );
