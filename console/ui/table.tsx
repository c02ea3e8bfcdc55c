import type { ComponentChildren } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { place, setParams } from '../router.ts';
import { text } from '../strings/index.ts';
import { Icon } from './icon.tsx';
import { Pure } from './pure.ts';
import { useRowFocus } from './row-focus.ts';
import { focusRow } from './row-shortcuts.ts';
import { isMedium, isTight, listPieces, useVirtualRows } from './virtual.ts';

export interface Column<Row> {
  /** Short, stable name of the column, stored in the URL while the table is sorted by it. */
  key: string;
  title: string;
  /** Content of the header in place of the title. */
  head?: ComponentChildren;
  cell: (row: Row) => ComponentChildren;
  /** CSS width. Columns without a width share the rest. */
  width?: string;
  align?: 'end';
  /** True to hide the column in windows that have no room for all columns. */
  isMinor?: boolean;
  /** Sort value. Undefined for columns that cannot be sorted. */
  sortBy?: (row: Row) => string | number;
}

export interface TableProps<Row> {
  /** Accessible name of the table. */
  label: string;
  columns: Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string | number;
  /** Content of a row in narrow windows: several lines. The first line may wrap once. */
  compact: (row: Row) => ComponentChildren;
  /** CSS class for a row. */
  rowClass?: (row: Row) => string;
  /** Row height in pixels in wide and narrow windows. */
  heights?: readonly [wide: number, narrow: number];
}

const defaultHeights = [34, 66] as const;

/** Table of any length, sorted by the `sort` parameter. Renders only rows near the viewport. */
export const Table = <Row,>({ label, columns: all, rows, rowKey, compact, rowClass, heights }: TableProps<Row>) => {
  const isFew = isTight.value;
  const columns = useMemo(() => all.filter(({ isMinor }) => !(isMinor && isFew)), [all, isFew]);
  const body = useRef<HTMLTableSectionElement>(null);
  const [wide, low] = heights ?? defaultHeights;
  const height = isMedium.value ? low : wide;
  const range = useVirtualRows(body, rows.length, height);
  const keys = useMemo(() => rows.map(rowKey), [rows]);
  const { focused, handlers } = useRowFocus(body, keys);
  return (
    <table class={`table ${isMedium.value ? 'narrow' : ''}`} aria-label={label} aria-rowcount={rows.length + 1}>
      <thead>
        <tr aria-rowindex={1}>
          {isMedium.value ? (
            <th scope="col">{label}</th>
          ) : (
            columns.map((each) => <Heading key={each.key} column={each} />)
          )}
        </tr>
      </thead>
      <tbody ref={body} onKeyDown={focusRow} {...handlers}>
        {listPieces(range, rows.length, focused).map((piece) =>
          typeof piece === 'object' ? (
            <Gap key={piece.key} height={piece.gap * height} />
          ) : (
            <TableRow
              key={`row ${keys[piece]}`}
              columns={columns}
              compact={compact}
              height={height}
              row={rows[piece] as Row}
              name={`${keys[piece]}`}
              rowClass={rowClass?.(rows[piece] as Row)}
              index={piece + 2}
              isNarrow={isMedium.value}
            />
          ),
        )}
      </tbody>
    </table>
  );
};

interface LinesProps {
  title: ComponentChildren;
  hint: ComponentChildren;
}

/** Content of a row in narrow windows: the title on up to two lines, and the rest below. */
export const TwoLines = ({ title, hint }: LinesProps) => (
  <div class="two-lines">
    <span class="two-line">{title}</span>
    <span class="one-line hint">{hint}</span>
  </div>
);

interface RowProps<Row> extends Pick<TableProps<Row>, 'columns' | 'compact'> {
  row: Row;
  /** Key of the record. */
  name: string;
  rowClass: string | undefined;
  index: number;
  height: number;
  isNarrow: boolean;
}

/** Table row that is rendered again only if its properties change. */
class TableRow<Row> extends Pure<RowProps<Row>> {
  override render() {
    const { row, name, columns, compact, rowClass, index, height, isNarrow } = this.props;
    return (
      <tr class={rowClass} data-row={name} aria-rowindex={index} style={{ height: `${height}px` }}>
        {isNarrow ? (
          <td>{compact(row)}</td>
        ) : (
          columns.map(({ key, align, cell }) => (
            <td key={key} class={align}>
              {cell(row)}
            </td>
          ))
        )}
      </tr>
    );
  }
}

/** Placeholder for rows that are not rendered. */
const Gap = ({ height }: { height: number }) => <tr {...unseen} style={{ height: `${height}px` }} />;
const unseen = { class: 'gap', 'aria-hidden': true } as const;

const Heading = <Row,>({ column }: { column: Column<Row> }) => {
  const { key, title, head, width, align, sortBy } = column;
  const [sorted, direction] = readSort();
  const isSorted = sorted === key;
  const order = direction === 'down' ? 'descending' : 'ascending';
  const style = width === undefined ? {} : { width };
  if (!sortBy) {
    return (
      <th scope="col" class={align} style={style}>
        {head ?? title}
      </th>
    );
  }
  return (
    <th scope="col" class={align} style={style} aria-sort={isSorted ? order : 'none'}>
      <button
        type="button"
        class="sort"
        title={text.sortBy(title)}
        onClick={() => setParams({ sort: isSorted && direction === 'down' ? key : `${key}-down` })}
      >
        {title}
        {isSorted && <Icon name={direction === 'down' ? 'down' : 'up'} />}
      </button>
    </th>
  );
};

const readSort = (): [key: string, direction: 'up' | 'down'] => {
  const { sort = '' } = place.value.params;
  return sort.endsWith('-down') ? [sort.slice(0, -5), 'down'] : [sort, 'up'];
};

/** Sorts rows as in the URL. Keeps the order if no sort column is chosen. */
export const sortRows = <Row,>(rows: readonly Row[], columns: Column<Row>[]): readonly Row[] => {
  const [key, direction] = readSort();
  const sortBy = columns.find((column) => column.key === key)?.sortBy;
  if (!sortBy) return rows;
  const sign = direction === 'down' ? -1 : 1;
  return [...rows].sort((a, b) => sign * compare(sortBy(a), sortBy(b)));
};

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

const compare = (a: string | number, b: string | number): number =>
  typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(String(a), String(b));
