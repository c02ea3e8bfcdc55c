import { useMemo } from 'preact/hooks';
import type { Execution } from 'signalbox/client';
import { client } from '../api.ts';
import { toCount } from '../format.ts';
import { useResource } from '../live/resource.ts';
import { place, setParams } from '../router.ts';
import { isAllowed } from '../routes.ts';
import type { ScreenView } from '../screen.ts';
import { text } from '../strings/index.ts';
import { NoRows } from '../ui/filter-bar.tsx';
import { ListHead } from '../ui/list-head.tsx';
import { Empty, Failure, Unloaded } from '../ui/panel.tsx';
import { ExecutionDialog } from './details.tsx';
import { auditFilter, executionMatches } from './filter.ts';
import { AuditFilters } from './filters.tsx';
import { ExecutionTable } from './rows.tsx';

const words = text.audit;

/** Number of records in the first request. Equals the server's maximum. */
const first = 1000;
const most = 10_000;
/** Minimum milliseconds between requests while commands arrive. */
const calm = 1000;

/** Audit of commands, including refused commands, newest first. Sends no request for users without access. */
const AuditScreen = ({ rest }: { rest: string }) =>
  isAllowed('listExecutions') ? <Records rest={rest} /> : <Empty title={text.errors.admin} />;

const Records = ({ rest }: { rest: string }) => {
  const count = place.value.params['count'] === 'all' ? most : first;
  const load = (signal: AbortSignal) => client.listExecutions({ count }, { signal });
  const { value, error, reload } = useResource(load, { key: String(count), topic: 'executions', calm });
  const executions = useMemo(() => value?.data.toReversed(), [value]);
  if (!executions) return <Unloaded error={error} reload={reload} lines={16} />;
  const open = executions.find(({ requestId }) => requestId === rest);
  return (
    <div class="list">
      <AuditFilters executions={executions} />
      {error && <Failure error={error} onRetry={reload} />}
      <Found executions={executions} isCut={executions.length >= count && count < most} onRefresh={reload} />
      {rest && <ExecutionDialog execution={open} />}
    </div>
  );
};

interface Props {
  executions: readonly Execution[];
  /** True if the server has older records. */
  isCut: boolean;
  onRefresh: () => void;
}

const Found = ({ executions, isCut, onRefresh }: Props) => {
  const filter = auditFilter.read();
  const key = JSON.stringify(filter);
  const found = useMemo(() => executions.filter((execution) => executionMatches(execution, filter)), [executions, key]);
  const count = words.shown(toCount(found.length), toCount(executions.length));
  return (
    <>
      <ListHead count={isCut ? words.last(count) : count} onRefresh={onRefresh} />
      {found.length === 0 ? <NoRows filter={auditFilter} words={words} /> : <ExecutionTable executions={found} />}
      {isCut && (
        <div class="more">
          <button type="button" onClick={() => setParams({ count: 'all' })}>
            {words.older}
          </button>
        </div>
      )}
    </>
  );
};

export const auditView: ScreenView = { Screen: AuditScreen };
