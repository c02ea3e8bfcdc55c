import type { SimpleTask } from 'signalbox/client';
import { client } from '../api.ts';
import { toCount } from '../format.ts';
import { useResource } from '../live/resource.ts';
import { place, setParams } from '../router.ts';
import type { ScreenView } from '../screen.ts';
import { text } from '../strings/index.ts';
import { Chip } from '../ui/chip.tsx';
import { ListFilter } from '../ui/list-filter.tsx';
import { ListHead } from '../ui/list-head.tsx';
import { OneLine } from '../ui/one-line.tsx';
import { Empty, NoMatch, Unloaded } from '../ui/panel.tsx';
import { type Column, sortRows, Table, TwoLines } from '../ui/table.tsx';

const words = text.simpleTasks;

/** Tasks of the `simple-tasks` profile. */
const SimpleTasksScreen = () => {
  const { value, error, reload } = useResource((signal) => client.listTasksAtSimple(undefined, { signal }));
  if (error || !value) return <Unloaded error={error} reload={reload} lines={12} />;
  if (value.length === 0) return <Empty title={words.empty} hint={words.emptyHint} />;
  const { q = '' } = place.value.params;
  const found = value.filter(({ title }) => title.toLowerCase().includes(q.toLowerCase()));
  return (
    <div class="list">
      <ListFilter label={words.filter} />
      <ListHead count={words.shown(toCount(found.length), toCount(value.length))} onRefresh={reload} />
      {found.length === 0 ? (
        <NoMatch title={words.noMatch} onClear={() => setParams({ q: undefined })} />
      ) : (
        <Table
          label={text.titles.simpleTasks}
          columns={columns}
          rows={sortRows(found, columns)}
          rowKey={({ id }) => id}
          compact={toCompact}
        />
      )}
    </div>
  );
};

const Title = ({ title }: SimpleTask) => <OneLine value={title} title={words.title} />;

const Status = ({ status }: SimpleTask) => (
  <Chip tone={status === 'done' ? 'good' : 'quiet'} icon={status === 'done' ? 'check' : 'other'}>
    {words.statuses[status]}
  </Chip>
);

const columns: Column<SimpleTask>[] = [
  { key: 'id', title: words.id, width: '6rem', cell: ({ id }) => id, sortBy: ({ id }) => id },
  { key: 'title', title: words.title, cell: Title, sortBy: ({ title }) => title },
  { key: 'status', title: words.status, width: '8rem', cell: Status, sortBy: ({ status }) => status },
];

const toCompact = (task: SimpleTask) => (
  <TwoLines title={<Title {...task} />} hint={[task.id, ' · ', <Status key="status" {...task} />]} />
);

export const simpleTasksView: ScreenView = { Screen: SimpleTasksScreen };
