import { useMemo } from 'preact/hooks';
import type { CommandResult } from 'signalbox/client';
import { toCsv } from '../../src/lib/csv.ts';
import { toBytes, toCount } from '../format.ts';
import { createAddressChoice } from '../list-address.ts';
import { place, setParams, toHash } from '../router.ts';
import { text } from '../strings/index.ts';
import { AddressSegments } from '../ui/address-segments.tsx';
import { CopyButton } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { download } from '../ui/download.ts';
import { Icon } from '../ui/icon.tsx';
import { LongText } from '../ui/long-text.tsx';
import { Panel } from '../ui/panel.tsx';
import { type Column, sortRows, Table, TwoLines } from '../ui/table.tsx';
import { TextFilter } from '../ui/text-filter.tsx';
import { isMedium } from '../ui/virtual.ts';

const words = text.commands;

/** Row of a result: values by property. */
type Cells = CommandResult['result'][number];

interface Row {
  number: number;
  cells: Cells;
}

/** Maximum number of characters in a cell. The dialog of the row shows the full value. */
const mostShown = 300;
/** Maximum number of columns that fit. A table with more columns scrolls sideways. */
const mostColumns = 8;

const viewChoice = createAddressChoice('as', ['table', 'csv', 'json'], 'table');

const toText = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

/** Result as a table, CSV or JSON, filtered and sorted as in the URL. */
export const ResultPanel = ({ line, result: { result, truncated } }: { line: string; result: CommandResult }) => {
  const { q = '', sort, row } = place.value.params;
  const names = useMemo(() => [...new Set(result.flatMap((cells) => Object.keys(cells)))], [result]);
  const columns = useMemo(() => createColumns(names, result), [names]);
  const rows = useMemo(() => sortRows(filterRows(result, q), columns), [result, q, columns, sort]);
  const opened = row === undefined ? undefined : result[Number(row) - 1];
  return (
    <Panel
      title={words.result}
      kind="command-result"
      aside={<span class="hint">{text.rows(toCount(rows.length), toCount(result.length))}</span>}
    >
      <p class="hint mono">
        <bdi>{line}</bdi>
      </p>
      {truncated && <p class="note">{words.truncated}</p>}
      <ResultBar rows={rows} names={names} />
      {result.length === 0 && <p>{words.noRows}</p>}
      {result.length > 0 && rows.length === 0 && <p>{words.noMatch}</p>}
      {rows.length > 0 && <Shown rows={rows} names={names} columns={columns} result={result} />}
      {opened && <RowDialog number={row ?? ''} cells={opened} />}
    </Panel>
  );
};

const filterRows = (result: Cells[], q: string): Row[] => {
  const asked = q.toLowerCase();
  return result
    .map((cells, index) => ({ number: index + 1, cells }))
    .filter(({ cells }) => !asked || Object.values(cells).some((value) => toText(value).toLowerCase().includes(asked)));
};

const toFile = (view: 'csv' | 'json', rows: readonly Row[], names: string[]): string =>
  view === 'csv'
    ? toCsv([names, ...rows.map(({ cells }) => names.map((name) => cells[name]))])
    : JSON.stringify(
        rows.map(({ cells }) => cells),
        null,
        2,
      );

const ResultBar = ({ rows, names }: { rows: readonly Row[]; names: string[] }) => {
  return (
    <div class="filters">
      <TextFilter name="q" label={words.filter} type="search" />
      <AddressSegments label={words.as} choice={viewChoice} labels={words.views} />
      {(['csv', 'json'] as const).map((format) => (
        <span key={format} class="actions">
          <CopyButton label={words.copyAs(words.views[format])} value={() => toFile(format, rows, names)} />
          <button
            type="button"
            aria-label={words.downloadAs(words.views[format])}
            title={words.downloadAs(words.views[format])}
            onClick={() => download(`result.${format}`, toType(format), toFile(format, rows, names))}
          >
            <Icon name="download" />
          </button>
        </span>
      ))}
    </div>
  );
};

const toType = (format: 'csv' | 'json'): string => (format === 'csv' ? 'text/csv' : 'application/json');

/** Returns a width in pixels that fits the column's name and first values. */
const toWidth = (name: string, result: Cells[]): number => {
  const lengths = result.slice(0, 50).map((cells) => (toSize(name, cells[name]) ?? toText(cells[name])).length);
  return 28 + 8.5 * Math.min(32, Math.max(6, name.length, ...lengths));
};

interface ShownProps {
  rows: readonly Row[];
  names: string[];
  columns: Column<Row>[];
  result: Cells[];
}

const Shown = ({ rows, names, columns, result }: ShownProps) => {
  const view = viewChoice.read();
  if (view !== 'table') {
    return (
      // Focusable, so that the keyboard can scroll.
      // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
      <pre class="written" tabIndex={0}>
        <LongText value={toFile(view, rows, names)} most={20_000} />
      </pre>
    );
  }
  const table = (
    <Table
      label={words.result}
      columns={columns}
      rows={rows}
      rowKey={({ number }) => number}
      compact={(row) => <Compact row={row} names={names} />}
    />
  );
  if (names.length <= mostColumns || isMedium.value) return table;
  const width = names.reduce((sum, name) => sum + toWidth(name, result), 0);
  return (
    <>
      <p class="hint">{words.sideways(toCount(names.length))}</p>
      {/* Links in the table let the keyboard scroll it. */}
      <div class="sideways">
        <div style={{ minWidth: `${width}px` }}>{table}</div>
      </div>
    </>
  );
};

const createColumns = (names: string[], result: Cells[]): Column<Row>[] =>
  names.map((name, index): Column<Row> => {
    const isNumber = typeof result.find((cells) => cells[name] !== null)?.[name] === 'number';
    return {
      key: name,
      title: name,
      cell: (row) => (index === 0 ? <RowLink row={row} name={name} /> : <Cell name={name} value={row.cells[name]} />),
      sortBy: ({ cells }) => {
        const value = cells[name];
        return typeof value === 'number' ? value : toText(value);
      },
      ...(names.length > mostColumns && { width: `${toWidth(name, result)}px` }),
      ...(isNumber && { align: 'end' as const }),
    };
  });

/** Names of properties with values in bytes or kilobytes. */
const inBytes =
  /^((Private|Paged|NonpagedSystem|PagedSystem|Virtual|Peak\w*)MemorySize(64)?|(Peak)?WorkingSet(64|Size)?|VirtualSize|(\w*File)?Size|FreeSpace|Capacity|TotalPhysicalMemory|WS|PM|NPM|VM)$/;
const inKilobytes = /^(Free(Physical|Virtual)Memory|Total(Visible|Virtual)MemorySize|L[23]CacheSize)$/;

/** Formats a size for people. The tooltip has the exact number. */
const toSize = (name: string, value: unknown): string | undefined => {
  if (typeof value !== 'number' || value < 0) return undefined;
  if (inBytes.test(name)) return toBytes(value);
  return inKilobytes.test(name) ? toBytes(value * 1024) : undefined;
};

const Cell = ({ name, value }: { name: string; value: unknown }) => {
  const size = toSize(name, value);
  if (size !== undefined) return <span title={`${value}`}>{size}</span>;
  return <bdi>{toText(value).slice(0, mostShown)}</bdi>;
};

/** Link in the first cell that opens the row's dialog. */
const RowLink = ({ row: { number, cells }, name }: { row: Row; name: string }) => {
  const { path, rest, params } = place.value;
  return (
    <a href={toHash(rest ? `${path}/${rest}` : path, { ...params, row: String(number) })}>
      <bdi>{toText(cells[name]).slice(0, mostShown) || words.empty}</bdi>
    </a>
  );
};

const Compact = ({ row, names }: { row: Row; names: string[] }) => {
  const [first = '', ...others] = names;
  const shown = others
    .map((name) => toSize(name, row.cells[name]) ?? toText(row.cells[name]))
    .filter((value) => value !== '');
  return (
    <TwoLines title={<RowLink row={row} name={first} />} hint={<bdi>{shown.join(' · ').slice(0, mostShown)}</bdi>} />
  );
};

const RowDialog = ({ number, cells }: { number: string; cells: Cells }) => (
  <Dialog title={words.row(number)} kind="drawer" onClose={() => setParams({ row: undefined })}>
    <dl class="pairs">
      {Object.entries(cells).map(([name, value]) => (
        <div key={name}>
          <dt>
            <bdi>{name}</bdi>
          </dt>
          <dd>
            <LongText value={[toSize(name, value), toText(value)].filter(Boolean).join(' · ')} />
          </dd>
        </div>
      ))}
    </dl>
  </Dialog>
);
