import { toCount } from '../format.ts';
import { place, setParams } from '../router.ts';
import { text } from '../strings/index.ts';
import { ChipToggle } from '../ui/chip.tsx';
import { Check, Choice } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { knownLevels, mostInChip, toKnownLevel, toLevelName, toTone } from '../ui/level.tsx';
import { TextFilter } from '../ui/text-filter.tsx';
import { isNarrow } from '../ui/virtual.ts';
import { clearFilter, hasFilter, isFolding } from './filter.ts';

const words = text.alerts;

/** The known levels and those that alerts have, the worst first, with their counts. */
const listLevels = (counts: Record<string, number>): string[] => {
  const rank = (level: string) => (([...knownLevels, 'other'] as string[]).indexOf(toKnownLevel(level)) + 1) * 2;
  const names = new Set([...knownLevels, ...Object.keys(counts).filter((level) => level !== '')]);
  return [...names].sort((a, b) => rank(a) - rank(b) || (counts[b] ?? 0) - (counts[a] ?? 0)).slice(0, 8);
};

export const LevelChips = ({ counts }: { counts: Record<string, number> }) => {
  const { level } = place.value.params;
  return (
    <fieldset class="chips">
      <legend class="unseen">{words.level}</legend>
      {listLevels(counts).map((each) => (
        <ChipToggle
          key={each}
          {...toTone(each)}
          pressed={level === each}
          onToggle={() => setParams({ level: level === each ? undefined : each })}
        >
          <bdi>{toLevelName(each).slice(0, mostInChip)}</bdi> <span class="hint">{toCount(counts[each] ?? 0)}</span>
        </ChipToggle>
      ))}
    </fieldset>
  );
};

/** The filters; in narrow windows all but the text are behind a button. */
export const Filters = () => (
  <search class="filters" aria-label={words.filters}>
    <TextFilter name="q" label={words.filter} type="search" />
    {isNarrow.value ? (
      <details class="more-filters">
        <summary>{words.moreFilters}</summary>
        <div class="filters">
          <ExactFilters />
        </div>
      </details>
    ) : (
      <ExactFilters />
    )}
  </search>
);

const ExactFilters = () => {
  const { status = '' } = place.value.params;
  return (
    <>
      <TextFilter name="source" label={words.sourceIs} />
      <TextFilter name="hostname" label={words.hostIs} />
      <Choice
        label={words.status}
        value={status}
        options={[
          ['', words.anyStatus],
          ['firing', words.firing],
          ['resolved', words.resolved],
        ]}
        onValue={(value) => setParams({ status: value })}
      />
      <Check
        label={words.fold}
        checked={isFolding()}
        onValue={(checked) => setParams({ fold: checked ? undefined : 'off' })}
      />
      <button type="button" class="quiet" aria-disabled={!hasFilter()} onClick={clearFilter}>
        <Icon name="close" /> {text.clear}
      </button>
    </>
  );
};
