import type { Static } from 'typebox';
import type { BulkResult, Incident, IncidentDetails } from '../../profiles/incidents/schema.ts';
import { toPerson } from '../../profiles/people.ts';
import { severities } from '../../profiles/severity.ts';
import { readChoice, UsageError } from '../args.ts';
import { print, say } from '../stdio.ts';
import { ask, defineAskingCommand, printRows } from './ask.ts';
import type { AlertServer } from './server.ts';
import { paintSeverity, toOneLine, toReadableTime, toRelativeTime, toTable, withWhole } from './table.ts';
import { parseUntil } from './until.ts';

const messageFlag = { value: 'TEXT', short: 'm', summary: 'Comment for the timeline.' } as const;

const states = ['active', 'open', 'acknowledged', 'resolved', 'all'] as const;

export const incidentsCommand = defineAskingCommand({
  name: 'incidents',
  summary: 'List the incidents of a server: what is open, and who has taken it.',
  flags: {
    state: { value: 'STATE', summary: 'Only these. Default active: open or acknowledged.', choices: states },
    level: { value: 'LEVEL', summary: 'Only incidents of this severity.' },
    source: { value: 'NAME', summary: 'Only incidents of this source.' },
    hostname: { value: 'NAME', summary: 'Only incidents of this host.' },
  },
  scope: 'incidents:read',
  run: async (server, { own: { state: given, level, source, hostname, json } }) => {
    const state = given === undefined ? undefined : readChoice('--state', given, states);
    const query = new URLSearchParams({ limit: '1000' });
    for (const [name, value] of Object.entries({ state, level: level?.toUpperCase(), source, hostname }))
      if (value) query.set(name, value);
    const isActive = state === undefined || state === 'active';
    const toText = (rows: readonly Incident[]) => toIncidentTable(isActive ? rows.toSorted(compareUrgency) : rows);
    return ask(server, `api/incidents?${query}`, ({ data, total }) => {
      const rows = data as Incident[];
      printRows(rows, json, toText, `No ${state === undefined ? 'open' : 'such'} incidents.\n`);
      if (!json && Number(total) > rows.length) say(`${total} match; these are the ${rows.length} that changed last`);
    });
  },
});

/** What nobody has taken first, then the worst, then the oldest. */
const compareUrgency = (a: Incident, b: Incident): number =>
  Number(a.state === 'acknowledged') - Number(b.state === 'acknowledged') ||
  severities.indexOf(a.level) - severities.indexOf(b.level) ||
  Date.parse(a.firstAt) - Date.parse(b.firstAt);

const toIncidentTable = (rows: readonly Incident[]): string =>
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

const describeState = ({ state, acknowledgedBy }: Incident): string =>
  state === 'acknowledged' && acknowledgedBy !== null ? toPerson(acknowledgedBy) : state;

const oneIncident = { name: 'NUMBER', numbers: 'incidents' } as const;
const someIncidents = { name: 'NUMBER...', isList: true, numbers: 'incidents' } as const;

export const incidentCommand = defineAskingCommand({
  name: 'incident',
  argument: oneIncident,
  summary: 'Show one incident with its timeline.',
  flags: {
    report: { summary: 'Print its timeline as Markdown, for the review afterwards.' },
  },
  scope: 'incidents:read',
  run: (server, { words: [number = ''], own: { report, json } }) => {
    const path = `api/incidents/${encodeURIComponent(toNumber(number))}`;
    if (report) return ask(server, `${path}/report`, (_, text) => print(text));
    return ask(server, path, (body, text) => {
      if (json) return print(`${text.trimEnd()}\n`);
      print(describeIncident(body as Static<typeof IncidentDetails>));
    });
  },
});

const describeIncident = (row: Static<typeof IncidentDetails>): string =>
  [
    withWhole(toIncidentTable([row]), row.title),
    ...(row.acknowledgedUntil === null ? [] : [`Acknowledged until ${toReadableTime(row.acknowledgedUntil)}.\n`]),
    '\n',
    toTable(
      ['WHEN', 'WHAT', 'WHO', 'MORE'],
      row.timeline.map(({ at, type, by, level, until, reason, comment, task }) => [
        toReadableTime(at),
        type,
        by === null ? '' : toPerson(by),
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

export const ackCommand = defineAskingCommand({
  name: 'ack',
  argument: someIncidents,
  summary: 'Say that you take an incident, or several.',
  details: ['Until it is resolved, or until the time of --until, it counts as taken and reminds nobody.'],
  flags: {
    until: { value: 'TIME', summary: 'When it opens again: 18:00, 2h, 30m, 1d or an RFC 3339 time.' },
    message: messageFlag,
  },
  scope: 'incidents:write',
  run: (server, { words, own: { until, message, json } }) =>
    act(server, 'acknowledge', words, json, {
      ...(message !== undefined && { comment: message }),
      ...(until !== undefined && { until: parseUntil(until, new Date()).toISOString() }),
    }),
});

export const resolveCommand = defineAskingCommand({
  name: 'resolve',
  argument: someIncidents,
  summary: 'Say that an incident is over, or several.',
  flags: { message: messageFlag },
  scope: 'incidents:write',
  run: (server, { words, own: { message, json } }) =>
    act(server, 'resolve', words, json, message === undefined ? {} : { comment: message }),
});

/** Does the same to each incident; exits with 1 if one of them was refused. */
const act = async (
  server: AlertServer,
  action: 'acknowledge' | 'resolve',
  words: readonly string[],
  isJson: boolean | undefined,
  more: object,
): Promise<number> => {
  if (words.length === 0) throw new UsageError('name at least one incident by its number, such as 412');
  const ids = words.map(toNumber);
  let isRefused = false;
  const show = ({ data }: Record<string, unknown>): void => {
    const results = data as Static<typeof BulkResult>['data'];
    const rows = results.flatMap(({ incident: row, error }) => (row !== null && error === null ? row : []));
    for (const { id, error } of results) if (error !== null) say(`#${id}: ${error}`);
    isRefused = rows.length < results.length;
    printRows(rows, isJson, toIncidentTable);
  };
  const code = await ask(server, `api/incidents/${action}`, show, { method: 'POST', body: { ids, ...more } });
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
