import { place, setParams } from '../router.ts';
import { text } from '../strings/index.ts';
import { ChipToggle } from '../ui/chip.tsx';
import { ClearButton, FilterBar } from '../ui/filter-bar.tsx';
import { taskFilter, taskPriorities, taskStatuses } from './filter.ts';
import { looks } from './looks.ts';

const words = text.tasks;

export const TaskFilters = () => (
  <FilterBar label={words.filter} others={['status', 'priority']}>
    <ClearButton filter={taskFilter} />
    <div class="task-chips">
      <Chips name="status" label={words.status} values={taskStatuses} labels={words.statuses} />
      <Chips name="priority" label={words.priority} values={taskPriorities} labels={words.priorities} />
    </div>
  </FilterBar>
);

interface ChipsProps<T extends string> {
  /** Parameter in the URL and in the API. */
  name: string;
  label: string;
  values: readonly T[];
  labels: Record<T, string>;
}

const Chips = <T extends keyof typeof looks>({ name, label, values, labels }: ChipsProps<T>) => {
  const chosen = place.value.params[name];
  return (
    <fieldset class="chips">
      <legend class="unseen">{label}</legend>
      {values.map((each) => (
        <ChipToggle
          key={each}
          {...looks[each]}
          pressed={chosen === each}
          onToggle={() => setParams({ [name]: chosen === each ? undefined : each })}
        >
          {labels[each]}
        </ChipToggle>
      ))}
    </fieldset>
  );
};
