import { useEffect } from 'preact/hooks';
import type { Item } from 'signalbox/client';
import { client } from '../api.ts';
import { toCount } from '../format.ts';
import { useResource } from '../live/resource.ts';
import { place, toHash } from '../router.ts';
import type { ScreenView } from '../screen.ts';
import { text } from '../strings/index.ts';
import { ListHead } from '../ui/list-head.tsx';
import { OneLine } from '../ui/one-line.tsx';
import { Empty, Unloaded } from '../ui/panel.tsx';
import { type Column, Table, TwoLines } from '../ui/table.tsx';

const words = text.items;

/** Page size. */
const size = 100;

const readPage = (): number => Math.max(1, Math.floor(Number(place.value.params['page'])) || 1);

/** Paged list of items, in order of creation. */
const ItemsScreen = () => {
  const page = readPage();
  const load = async (signal: AbortSignal) => ({ ...(await client.listItems({ page, size }, { signal })), page });
  const { value, error, reload } = useResource(load, { key: String(page) });
  useEffect(() => scrollTo(0, 0), [page]);
  if (error || !value) return <Unloaded error={error} reload={reload} lines={12} />;
  const { data, total } = value;
  if (total === 0) return <Empty title={words.empty} hint={words.emptyHint} />;
  return (
    <div class="list">
      <ListHead count={toRange(value.page, data.length, total)} onRefresh={reload} />
      {data.length > 0 && (
        <Table label={text.titles.items} columns={columns} rows={data} rowKey={({ id }) => id} compact={toCompact} />
      )}
      {(total > size || page > 1) && <Pages page={page} isLast={page * size >= total} />}
    </div>
  );
};

const toRange = (page: number, count: number, total: number): string => {
  const before = (page - 1) * size;
  if (count === 0) return words.none(toCount(total));
  return words.shown(toCount(before + 1), toCount(before + count), toCount(total));
};

const Name = ({ name }: Item) => <OneLine value={name} title={words.name} />;

const columns: Column<Item>[] = [
  { key: 'id', title: words.id, width: '6rem', cell: ({ id }) => id },
  { key: 'name', title: words.name, cell: Name },
  { key: 'status', title: words.status, width: '8rem', cell: ({ status }) => words.statuses[status] ?? status },
];

const toCompact = (item: Item) => (
  <TwoLines title={<Name {...item} />} hint={`${item.id} · ${words.statuses[item.status] ?? item.status}`} />
);

const Pages = ({ page, isLast }: { page: number; isLast: boolean }) => (
  <nav class="actions" aria-label={words.pages}>
    {page > 2 && <a href={toHash('/items')}>{words.first}</a>}
    {page > 1 && <a href={toHash('/items', { page: page > 2 ? String(page - 1) : undefined })}>{words.previous}</a>}
    {!isLast && <a href={toHash('/items', { page: String(page + 1) })}>{words.next}</a>}
  </nav>
);

export const itemsView: ScreenView = { Screen: ItemsScreen };
