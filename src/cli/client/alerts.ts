import type { AlertEntry } from '../../profiles/alerts/schema.ts';
import { findSeverity } from '../../profiles/severity.ts';
import { UsageError } from '../args.ts';
import { usualColumns } from '../progress.ts';
import { print, say } from '../stdio.ts';
import type { AlertSearch, FollowedAlerts } from './alert-follower.ts';
import { type AskedQuery, defineAskingCommand, printLines } from './ask.ts';
import { createTable, paintSeverity, toOneLine, toReadableTime } from './table.ts';
import { parseSince } from './until.ts';

/** Which alerts are wanted. */
interface AlertFilter {
  level?: string | undefined;
  source?: string | undefined;
  hostname?: string | undefined;
}

const usualLimit = 20;
const mostLimit = 10_000;

/** Alerts of one response. */
const mostOfPage = 1000;

export const alertsCommand = defineAskingCommand({
  name: 'alerts',
  summary: 'List the last alerts of a server, the newest last, or follow them as they come.',
  flags: {
    follow: { short: 'f', summary: 'Go on with alerts as they come, until Ctrl+C.' },
    level: { value: 'LEVEL', summary: 'Only alerts of this severity, whatever their senders call it.' },
    since: { value: 'TIME', summary: 'Only alerts since then: 2h, 30m or 1d ago, 18:00 or an RFC 3339 time.' },
    source: { value: 'NAME', summary: 'Only alerts of this source.' },
    hostname: { value: 'NAME', summary: 'Only alerts of this host.' },
    limit: {
      value: 'N',
      isNumber: true,
      summary: `The last N at most. Default ${usualLimit}, with --since ${mostLimit}.`,
    },
  },
  scope: 'alerts:read or incidents:write',
  run: async ({ server, ask }, { own: { follow, level, since, source, hostname, limit, json } }) => {
    const filter = { level, source, hostname };
    const from = since === undefined ? undefined : parseSince(since, new Date());
    const most = readLimit(limit, from === undefined ? usualLimit : mostLimit);
    const toLines = createAlertTable(follow === true);
    const show = (rows: readonly AlertEntry[]): void => (json ? printLines(rows) : print(toLines(rows)));
    const search: AlertSearch = (query) => ask('api/alerts/search', { query });
    // What comes after it is followed: nothing in between is missed, or shown twice.
    const last = { seq: 0, time: '' };
    if (follow) {
      const [newest] = (await search({ limit: 1 })).data;
      if (newest) Object.assign(last, { seq: newest.seq, time: newest.time ?? '' });
    }
    const found: AlertEntry[] = [];
    const query = { ...toQuery(filter, from), limit: Math.min(mostOfPage, most + 1) };
    for await (const page of searchPages(search, query, 0, follow ? last.seq + 1 : undefined)) {
      found.push(...page);
      if (found.length > most) break;
    }
    const [shown, isMore] = [found.slice(0, most).reverse(), found.length > most];
    if (!follow && shown.length === 0)
      return print(json ? '' : `No ${isFiltered(filter, from) ? 'such ' : ''}alerts.\n`);
    show(shown);
    if (from !== undefined && isMore) say(`there are more; these are the last ${most}`);
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
  if (limit <= mostLimit) return limit;
  throw new UsageError(`--limit must be a number from 0 to ${mostLimit}, not ${JSON.stringify(text)}`);
};

const isFiltered = (filter: AlertFilter, from: Date | undefined): boolean =>
  from !== undefined || Object.values(filter).some((value) => value !== undefined);

/** The same as parameters of a search. Severities have several names; other levels are names of their own. */
const toQuery = ({ level, source, hostname }: AlertFilter, from?: Date): AskedQuery => {
  const severity = level === undefined ? undefined : findSeverity(level);
  const named = severity === undefined ? { level } : { severity };
  return { ...named, source, hostname, since: from?.toISOString() };
};

/** The same as a test of one alert. */
const createAlertTest = ({ level, source, hostname }: AlertFilter): ((row: AlertEntry) => boolean) => {
  const severity = level === undefined ? undefined : findSeverity(level);
  const isSame = (text: string, wanted: string | undefined): boolean =>
    wanted === undefined || text.toLowerCase() === wanted.toLowerCase();
  return (row) =>
    (severity === undefined ? isSame(row.level, level) : row.severity === severity) &&
    isSame(row.source, source) &&
    isSame(row.hostname, hostname);
};

/** The pages of what a search finds between two `seq`, the newest first. */
async function* searchPages(
  search: AlertSearch,
  query: AskedQuery,
  after = 0,
  before = Number.POSITIVE_INFINITY,
): AsyncGenerator<AlertEntry[]> {
  for (let next: number | null = before; next !== null && next > after + 1; ) {
    const page = await search({ limit: mostOfPage, ...query, before: Number.isFinite(next) ? next : undefined });
    yield page.data;
    next = page.next;
  }
}

/** On a narrow terminal, times have no year. */
const narrow = 100;

/** The columns of a log; where alerts will follow, they are as wide as most need. */
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
    toOneLine([source, hostname].filter(Boolean).join(' ')),
    toOneLine(message),
  ];
  return (rows: readonly AlertEntry[]): string => table(rows.map(toCells));
};
