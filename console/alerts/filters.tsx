import { toCount } from '../format.ts';
import { place, setParams } from '../router.ts';
import { text } from '../strings/index.ts';
import { ChipToggle } from '../ui/chip.tsx';
import { Check, Choice } from '../ui/field.tsx';
import { FilterBar } from '../ui/filter-bar.tsx';
import { Icon } from '../ui/icon.tsx';
import { knownLevels, mostInChip, toKnownLevel, toLevelName, toTone } from '../ui/level.tsx';
import { TextFilter } from '../ui/text-filter.tsx';
import { clearFilter, hasFilter, isFolding } from './filter.ts';

const words = text.alerts;

/** The known levels and those that alerts have, the worst first, with their counts. */
const listLevels = (counts: Record<string, number>): string[] => {
  const rank = (level: string) => (([...knownLevels, 'other'] as string[]).indexOf(toKnownLevel(level)) + 1) * 2;
  const names = new Set([...knownLevels, ...Object.keys(counts).filter((level) => level !== '')]);
  return [...names].sort((a, b) => rank(a) - rank(b) || (counts[b] ?? 0) - (counts[a] ?? 0)).slice(0, 8);
};

/** Filters are exact: a level that is written in another way than the known one is shown as it is written. */
const toName = (level: string): string =>
  (knownLevels as readonly string[]).includes(level) ? toLevelName(level) : level;

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
          <bdi>{toName(each).slice(0, mostInChip)}</bdi> <span class="hint">{toCount(counts[each] ?? 0)}</span>
        </ChipToggle>
      ))}
    </fieldset>
  );
};

export const Filters = () => {
  const { status = '' } = place.value.params;
  return (
    <FilterBar label={words.filter} others={['source', 'hostname', 'status', 'fold']}>
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
    </FilterBar>
  );
};
