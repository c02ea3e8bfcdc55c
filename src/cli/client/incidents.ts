import { describePerson } from '../../profiles/people.ts';
import { UsageError } from '../args.ts';
import { defineCommand } from '../command.ts';
import { print, say } from '../stdio.ts';
import { ask, askedVariables, askingExitCodes, jsonFlag, printLines, urlFlag } from './ask.ts';
import { type AlertServer, readServer } from './server.ts';
import { paintSeverity, toOneLine, toReadableTime, toRelativeTime, toTable, withWhole } from './table.ts';
import { parseUntil } from './until.ts';

/** What the commands print of an incident. */
interface IncidentRow {
  id: string;
  number: number;
  state: string;
  level: string;
  title: string;
  source: string;
  hostname: string;
  count: number;
  firstAt: string;
  lastAt: string;
  acknowledgedBy: string | null;
  acknowledgedUntil: string | null;
  resolvedAt: string | null;
}

interface TimelineRow {
  at: string;
  type: string;
  by: string | null;
  level: string | null;
  until: string | null;
  reason: string | null;
  comment: string | null;
  task: number | null;
}

const messageFlag = { value: 'TEXT', short: 'm', summary: 'Comment for the timeline.' } as const;

const states = ['active', 'open', 'acknowledged', 'resolved', 'all'] as const;

export const incidentsCommand = defineCommand({
  name: 'incidents',
  summary: 'List the incidents of a server: what is open, and who has taken it.',
  flags: {
    state: { value: 'STATE', summary: 'Only these. Default active: open or acknowledged.', choices: states },
    level: { value: 'LEVEL', summary: 'Only incidents of this severity.' },
    source: { value: 'NAME', summary: 'Only incidents of this source.' },
    hostname: { value: 'NAME', summary: 'Only incidents of this host.' },
    json: jsonFlag,
    url: urlFlag,
  },
  variables: askedVariables('incidents:read'),
  exitCodes: askingExitCodes,
  run: async ({ own: { state, level, source, hostname, json, url } }) => {
    if (state !== undefined && !states.some((each) => each === state)) {
      throw new UsageError(`--state must be one of ${states.join(', ')}, not ${JSON.stringify(state)}`);
    }
    const query = new URLSearchParams({ limit: '1000' });
    for (const [name, value] of Object.entries({ state, level: level?.toUpperCase(), source, hostname }))
      if (value) query.set(name, value);
    return ask(readServer(url), 'GET', `api/incidents?${query}`, undefined, ({ data, total }) => {
      const rows = data as IncidentRow[];
      if (json) return printLines(rows);
      if (rows.length === 0) return print(`No ${state === undefined ? 'open' : 'such'} incidents.\n`);
      print(toIncidentTable(state === undefined || state === 'active' ? rows.sort(compareUrgency) : rows));
      if (Number(total) > rows.length) say(`${total} match; these are the ${rows.length} that changed last`);
    });
  },
});

const severities = ['CRITICAL', 'ERROR', 'WARNING', 'INFO'];

/** What nobody has taken first, then the worst, then the oldest. */
const compareUrgency = (a: IncidentRow, b: IncidentRow): number =>
  Number(a.state === 'acknowledged') - Number(b.state === 'acknowledged') ||
  severities.indexOf(a.level) - severities.indexOf(b.level) ||
  Date.parse(a.firstAt) - Date.parse(b.firstAt);

const toIncidentTable = (rows: readonly IncidentRow[]): string =>
  toTable(
    ['#', 'SEVERITY', 'STATE', 'SINCE', 'ALERTS', 'WHERE', 'INCIDENT'],
    rows.map((row) => [
      `${row.number}`,
      row.level,
      describeState(row),
      toRelativeTime(row.firstAt),
      `${row.count}`,
      [row.source, row.hostname].filter(Boolean).join(' '),
      toOneLine(row.title),
    ]),
    { paint: paintSeverity, dropped: ['ALERTS', 'SINCE', 'WHERE'], fixed: ['#', 'SEVERITY'] },
  );

const describeState = ({ state, acknowledgedBy }: IncidentRow): string =>
  state === 'acknowledged' && acknowledgedBy !== null ? describePerson(acknowledgedBy) : state;

const oneIncident = { name: 'NUMBER', numbers: 'incidents' } as const;
const someIncidents = { name: 'NUMBER...', isList: true, numbers: 'incidents' } as const;

export const incidentCommand = defineCommand({
  name: 'incident',
  argument: oneIncident,
  summary: 'Show one incident with its timeline.',
  flags: {
    report: { summary: 'Print its timeline as Markdown, for the review afterwards.' },
    json: jsonFlag,
    url: urlFlag,
  },
  variables: askedVariables('incidents:read'),
  exitCodes: askingExitCodes,
  run: ({ words: [number = ''], own: { report, json, url } }) => {
    const path = `api/incidents/${encodeNumber(number)}`;
    if (report) return ask(readServer(url), 'GET', `${path}/report`, undefined, (_, text) => print(text));
    return ask(readServer(url), 'GET', path, undefined, (body, text) => {
      if (json) return print(`${text.trimEnd()}\n`);
      print(describeIncident(body as unknown as IncidentRow & { timeline: TimelineRow[] }));
    });
  },
});

const describeIncident = (row: IncidentRow & { timeline: TimelineRow[] }): string =>
  [
    withWhole(toIncidentTable([row]), row.title),
    ...(row.acknowledgedUntil === null ? [] : [`Acknowledged until ${toReadableTime(row.acknowledgedUntil)}.\n`]),
    '\n',
    toTable(
      ['WHEN', 'WHAT', 'WHO', 'MORE'],
      row.timeline.map(({ at, type, by, level, until, reason, comment, task }) => [
        toReadableTime(at),
        type,
        by === null ? '' : describePerson(by),
        [
          ...[level, reason, until !== null && `until ${toReadableTime(until)}`],
          ...[task !== null && `task ${task}`, toOneLine(comment ?? '')],
        ]
          .filter(Boolean)
          .join(' '),
      ]),
      { fixed: ['WHEN'] },
    ),
  ].join('');

export const ackCommand = defineCommand({
  name: 'ack',
  argument: someIncidents,
  summary: 'Say that you take an incident, or several.',
  details: ['Until it is resolved, or until the time of --until, it counts as taken and reminds nobody.'],
  flags: {
    until: { value: 'TIME', summary: 'When it opens again: 18:00, 2h, 30m, 1d or an RFC 3339 time.' },
    message: messageFlag,
    json: jsonFlag,
    url: urlFlag,
  },
  variables: askedVariables('incidents:write'),
  exitCodes: askingExitCodes,
  run: ({ words, own: { until, message, json, url } }) =>
    act('acknowledge', words, readServer(url), json === true, {
      ...(message !== undefined && { comment: message }),
      ...(until !== undefined && { until: parseUntil(until, new Date()).toISOString() }),
    }),
});

export const resolveCommand = defineCommand({
  name: 'resolve',
  argument: someIncidents,
  summary: 'Say that an incident is over, or several.',
  flags: { message: messageFlag, json: jsonFlag, url: urlFlag },
  variables: askedVariables('incidents:write'),
  exitCodes: askingExitCodes,
  run: ({ words, own: { message, json, url } }) =>
    act('resolve', words, readServer(url), json === true, message === undefined ? {} : { comment: message }),
});

interface ActionResult {
  id: string;
  status: number;
  incident: IncidentRow | null;
  error: string | null;
}

/** Does the same to each incident; exits with 1 if one of them was refused. */
const act = async (
  action: 'acknowledge' | 'resolve',
  words: readonly string[],
  server: AlertServer,
  isJson: boolean,
  more: object,
): Promise<number> => {
  if (words.length === 0) throw new UsageError('name at least one incident by its number, such as 412');
  const ids = words.map(toNumber);
  let isRefused = false;
  const code = await ask(server, 'POST', `api/incidents/${action}`, { ids, ...more }, ({ data }) => {
    const results = data as ActionResult[];
    const rows = results.flatMap(({ incident: row, error }) => (row !== null && error === null ? row : []));
    for (const { id, error } of results) if (error !== null) say(`#${id}: ${error}`);
    isRefused = rows.length < results.length;
    if (isJson) printLines(rows);
    else if (rows.length > 0) print(toIncidentTable(rows));
  });
  return isRefused ? 1 : code;
};

/** People write `#412`, too; a shell takes that as a comment unless it is quoted. */
const toNumber = (word: string): string => {
  const number = word.replace(/^#/, '');
  if (!/^[\w-]{1,36}$/.test(number)) {
    throw new UsageError(`an incident has a number such as 412, not ${JSON.stringify(word)}`);
  }
  return number;
};

const encodeNumber = (word: string): string => encodeURIComponent(toNumber(word));
