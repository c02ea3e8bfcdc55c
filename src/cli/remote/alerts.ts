import type { AlertEntry } from '../../features/alerts/schema.ts';
import { alertColumns, toAlertCells } from '../../features/alerts/search/columns.ts';
import { findSeverity } from '../../kit/severity.ts';
import { toCsv } from '../../lib/csv.ts';
import { createFilterTest } from '../../lib/wildcards.ts';
import { UsageError } from '../args.ts';
import { usualColumns } from '../progress.ts';
import { escapeLines, print, say } from '../stdio.ts';
import type { AlertSearch, FollowedAlerts } from './alert-follower.ts';
import { type AskedQuery, defineAskingCommand, printLines } from './ask.ts';
import { createTable, foldSpaces, paintSeverity, toReadableTime } from './table.ts';
import { parseSince } from './until.ts';

/** Filter for alerts. */
interface AlertFilter {
  level?: string | undefined;
  source?: string | undefined;
  hostname?: string | undefined;
  /** Text that the message contains. */
  text?: string | undefined;
}

const usualLimit = 20;
const maxLimit = 10_000;

/** Maximum number of alerts in a response. */
const maxPerPage = 1000;

export const alertsCommand = defineAskingCommand({
  name: 'alerts',
  summary: 'List the latest alerts of a server, newest last, or follow new alerts.',
  flags: {
    follow: { short: 'f', summary: 'Follow new alerts until Ctrl+C.' },
    search: { value: 'TEXT', summary: 'Only alerts whose message contains this text, ignoring case.' },
    level: { value: 'LEVEL', summary: 'Only alerts of this severity; synonyms of the level match too.' },
    since: { value: 'TIME', summary: 'Only alerts since this time: 2h, 30m or 1d ago, 18:00 or an RFC 3339 time.' },
    source: { value: 'NAME', summary: 'Only alerts from this source; * matches any text.' },
    hostname: { value: 'NAME', summary: 'Only alerts from this host; * matches any text.' },
    limit: {
      value: 'N',
      isNumber: true,
      summary: `Maximum number of alerts. Default ${usualLimit}, with --since or --csv ${maxLimit}.`,
    },
    csv: {
      summary: 'Print CSV for spreadsheets; text that a spreadsheet would run as a formula gets a leading apostrophe.',
    },
  },
  scope: 'alerts:read or incidents:write',
  run: async ({ server, ask }, { own }) => {
    const { follow, search: text, level, since, source, hostname, limit, json, csv } = own;
    if (json && csv) throw new UsageError('use either --json or --csv, not both');
    const filter = { level, source, hostname, text };
    const from = since === undefined ? undefined : parseSince(since, new Date());
    const most = readLimit(limit, from === undefined && !csv ? usualLimit : maxLimit);
    const toLines = createAlertTable(follow === true);
    const show = (rows: readonly AlertEntry[]): void => {
      if (json) printLines(rows);
      else print(csv ? toCsvLines(rows.map(toAlertCells)) : toLines(rows));
    };
    if (csv) print(toCsvLines([alertColumns]));
    const search: AlertSearch = (query) => ask('api/alerts/search', { query });
    // Following starts after this alert, so that none is missed or shown twice.
    const last = { seq: 0, time: '' };
    if (follow) {
      const [newest] = (await search({ limit: 1 })).data;
      if (newest) Object.assign(last, { seq: newest.seq, time: newest.time ?? '' });
    }
    const found: AlertEntry[] = [];
    const query = { ...toQuery(filter, from), limit: Math.min(maxPerPage, most + 1) };
    for await (const page of searchPages(search, query, 0, follow ? last.seq + 1 : undefined)) {
      found.push(...page);
      if (found.length > most) break;
    }
    const [shown, isMore] = [found.slice(0, most).reverse(), found.length > most];
    if (!follow && shown.length === 0)
      return print(json || csv ? '' : `No ${isFiltered(filter, from) ? 'matching ' : ''}alerts.\n`);
    show(shown);
    if ((from !== undefined || csv) && isMore) say(`more alerts match; only the last ${most} are shown`);
    if (!follow) return;
    const { followAlerts } = await import('./alert-follower.ts');
    const listBetween: FollowedAlerts['listBetween'] = (ask, ...between) =>
      searchPages(ask, toQuery(filter), ...between);
    return followAlerts(server, { last, accepts: createAlertTest(filter), listBetween, show });
  },
});

const readLimit = (text: string | undefined, usual: number): number => {
  if (text === undefined) return usual;
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (limit <= maxLimit) return limit;
  throw new UsageError(`--limit must be a number from 0 to ${maxLimit}, not ${JSON.stringify(text)}`);
};

const isFiltered = (filter: AlertFilter, from: Date | undefined): boolean =>
  from !== undefined || Object.values(filter).some((value) => value !== undefined);

/** Writes rows as CSV, without control characters for the terminal. */
const toCsvLines = (rows: readonly (readonly unknown[])[]): string =>
  toCsv(rows).split('\r\n').map(escapeLines).join('\r\n');

/**
 * Builds the query parameters of a search. A severity matches all of its names. Any other level matches only itself.
 */
const toQuery = ({ level, source, hostname, text }: AlertFilter, from?: Date): AskedQuery => {
  const severity = level === undefined ? undefined : findSeverity(level);
  const named = severity === undefined ? { level } : { severity };
  return { ...named, source, hostname, q: text, since: from?.toISOString() };
};

/** Creates a function that returns true for alerts that the search would find. */
const createAlertTest = ({ level, source, hostname, text = '' }: AlertFilter): ((row: AlertEntry) => boolean) => {
  const severity = level === undefined ? undefined : findSeverity(level);
  // An empty string is not sent, so it does not filter.
  const isLevel = createFilterTest(level || '*');
  const isSource = createFilterTest(source || '*');
  const isHost = createFilterTest(hostname || '*');
  return (row) =>
    (severity === undefined ? isLevel(row.level) : row.severity === severity) &&
    isSource(row.source) &&
    isHost(row.hostname) &&
    row.message.toLowerCase().includes(text.toLowerCase());
};

/** Yields the pages of a search between two seqs, newest first. */
async function* searchPages(
  search: AlertSearch,
  query: AskedQuery,
  after = 0,
  before = Number.POSITIVE_INFINITY,
): AsyncGenerator<AlertEntry[]> {
  for (let next: number | null = before; next !== null && next > after + 1; ) {
    const page = await search({ limit: maxPerPage, ...query, before: Number.isFinite(next) ? next : undefined });
    yield page.data;
    next = page.next;
  }
}

/** Number of columns below which times omit the year. */
const narrow = 100;

/** Creates the table of a log. If more alerts will follow, the initial columns are wide enough for most alerts. */
const createAlertTable = (isFollowed: boolean) => {
  const isNarrow = process.stdout.isTTY === true && (process.stdout.columns || usualColumns) < narrow;
  const table = createTable(['TIME', 'SEVERITY', 'WHERE', 'ALERT'], {
    paint: paintSeverity,
    dropped: ['WHERE'],
    fixed: ['TIME', 'SEVERITY'],
    usual: isFollowed ? { TIME: isNarrow ? 14 : 19, WHERE: 16, ALERT: 40 } : {},
  });
  const toCells = ({ time, severity, status, source, hostname, message }: AlertEntry): string[] => [
    time === null ? '' : toReadableTime(time).slice(isNarrow ? 5 : 0),
    status === 'resolved' ? 'resolved' : severity,
    foldSpaces([source, hostname].filter(Boolean).join(' ')),
    foldSpaces(message),
  ];
  return (rows: readonly AlertEntry[]): string => table(rows.map(toCells));
};
