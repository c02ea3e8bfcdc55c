import { severities } from '../../src/kit/severity.ts';
import { toCount } from '../format.ts';
import { place, setParams } from '../router.ts';
import { text } from '../strings/index.ts';
import { ChipToggle } from '../ui/chip.tsx';
import { CheckBox, Choice } from '../ui/field.tsx';
import { ClearButton, FilterBar } from '../ui/filter-bar.tsx';
import { toTone } from '../ui/severity.tsx';
import { TextFilter } from '../ui/text-filter.tsx';
import { alertFilter, isFolding, readSeverity } from './filter.ts';

const words = text.alerts;

export const SeverityChips = ({ counts }: { counts: Partial<Record<string, number>> | undefined }) => {
  const chosen = readSeverity();
  return (
    <fieldset class="chips">
      <legend class="unseen">{words.severity}</legend>
      {severities.map((each) => (
        <ChipToggle
          key={each}
          tone={toTone(each)}
          icon={toTone(each)}
          pressed={chosen === each}
          onToggle={() => setParams({ severity: chosen === each ? undefined : each, level: undefined })}
        >
          {words.severities[each]} {counts && <span class="hint">{toCount(counts[each] ?? 0)}</span>}
        </ChipToggle>
      ))}
    </fieldset>
  );
};

export const AlertFilters = () => {
  const { status = '' } = place.value.params;
  return (
    <FilterBar label={words.filter} others={['source', 'hostname', 'status', 'fold']}>
      <TextFilter name="source" label={words.sourceIs} example="shop*" />
      <TextFilter name="hostname" label={words.hostIs} example="web*" />
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
      <CheckBox
        label={words.fold}
        checked={isFolding()}
        onValue={(checked) => setParams({ fold: checked ? undefined : 'off' })}
      />
      <ClearButton filter={alertFilter} />
    </FilterBar>
  );
};
