import type { Execution } from '../calls/executions.ts';
import { place, setParams } from '../router.ts';
import { text } from '../strings/index.ts';
import { Choice } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { TextFilter } from '../ui/text-filter.tsx';
import { isNarrow } from '../ui/virtual.ts';
import { clearFilter, hasFilter, noUser, results } from './filter.ts';

const words = text.audit;

type Props = { executions: readonly Execution[] };

/** Filters for what is loaded; in narrow windows all but the text are behind a button. */
export const Filters = ({ executions }: Props) => (
  <search class="filters" aria-label={words.filters}>
    <TextFilter name="q" label={words.filter} type="search" />
    {isNarrow.value ? (
      <details class="more-filters">
        <summary>{words.moreFilters}</summary>
        <div class="filters">
          <ExactFilters executions={executions} />
        </div>
      </details>
    ) : (
      <ExactFilters executions={executions} />
    )}
  </search>
);

const ExactFilters = ({ executions }: Props) => {
  const { user = '', result = '' } = place.value.params;
  return (
    <>
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
      <button type="button" class="quiet" aria-disabled={!hasFilter()} onClick={clearFilter}>
        <Icon name="close" /> {text.clear}
      </button>
    </>
  );
};

/** The users that are named in what is loaded, and the chosen one. */
const listUsers = (executions: readonly Execution[], chosen: string): [string, string][] => {
  const users = new Set(executions.map(({ user }) => user ?? noUser));
  if (chosen) users.add(chosen);
  return [...users].sort().map((user) => [user, user === noUser ? words.noUser : user]);
};
