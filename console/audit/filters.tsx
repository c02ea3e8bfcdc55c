import type { Execution } from 'signalbox/client';
import { place, setParams } from '../router.ts';
import { text } from '../strings/index.ts';
import { Choice } from '../ui/field.tsx';
import { ClearButton, FilterBar } from '../ui/filter-bar.tsx';
import { TextFilter } from '../ui/text-filter.tsx';
import { auditFilter, noUser, results } from './filter.ts';

const words = text.audit;

/** Filters for the loaded records. */
export const AuditFilters = ({ executions }: { executions: readonly Execution[] }) => {
  const { user = '', result = '' } = place.value.params;
  return (
    <FilterBar label={words.filter} others={['user', 'result', 'since', 'until']}>
      <Choice
        label={words.user}
        value={user}
        options={[['', words.anyUser], ...listUsers(executions, user)]}
        onValue={(value) => setParams({ user: value })}
      />
      <Choice
        label={words.result}
        value={result}
        options={[['', words.anyResult], ...results.map((each): [string, string] => [each, words.results[each]])]}
        onValue={(value) => setParams({ result: value })}
      />
      <TextFilter name="since" label={words.from} type="datetime-local" />
      <TextFilter name="until" label={words.until} type="datetime-local" />
      <ClearButton filter={auditFilter} />
    </FilterBar>
  );
};

/** Users in the loaded records, plus the chosen user. */
const listUsers = (executions: readonly Execution[], chosen: string): [string, string][] => {
  const users = new Set(executions.map(({ user }) => user ?? noUser));
  if (chosen) users.add(chosen);
  return [...users].sort().map((user) => [user, user === noUser ? words.noUser : user]);
};
