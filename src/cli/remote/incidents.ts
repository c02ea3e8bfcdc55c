import type { Static } from 'typebox';
import type { BulkResult, Incident, IncidentDetails } from '../../features/incidents/schema.ts';
import { toEventName } from '../../kit/event-names.ts';
import { toPerson, toTargetName } from '../../kit/people.ts';
import { severities } from '../../kit/severity.ts';
import { readChoice, UsageError } from '../args.ts';
import { escapeLines, print, say } from '../stdio.ts';
import { type Asking, defineAskingCommand, type ListReply, sayIfMore, toShortId } from './ask.ts';
import { foldSpaces, paintSeverity, toReadableTime, toRelativeTime, toTable, withWhole } from './table.ts';
import { parseUntil } from './until.ts';

const messageFlag = { value: 'TEXT', short: 'm', summary: 'Comment for the timeline.' } as const;

const states = ['active', 'open', 'acknowledged', 'resolved', 'all'] as const;

export const incidentsCommand = defineAskingCommand({
  name: 'incidents',
  summary: 'List the incidents of a server, with the people who acknowledged them.',
  flags: {
    state: {
      value: 'STATE',
      summary: 'Incidents in this state. Default: active (open or acknowledged).',
      choices: states,
    },
    search: { value: 'TEXT', summary: 'Only incidents whose title contains this text, ignoring case.' },
    level: { value: 'LEVEL', summary: 'Only incidents of this severity.' },
    source: { value: 'NAME', summary: 'Only incidents from this source; * matches any text.' },
    hostname: { value: 'NAME', summary: 'Only incidents from this host; * matches any text.' },
  },
  scope: 'incidents:read',
  run: async ({ ask, show }, { own: { state: given, search: q, level, source, hostname, json } }) => {
    const state = given === undefined ? undefined : readChoice('--state', given, states);
    const query = { limit: 1000, state, level: level?.toUpperCase(), source, hostname, q };
    const isActive = state === undefined || state === 'active';
    const toText = (rows: readonly Incident[]) => toIncidentTable(isActive ? rows.toSorted(compareUrgency) : rows);
    const listed = await ask<ListReply<Incident>>('api/incidents', { query });
    show(listed.data, toText, `No ${state === undefined ? 'open' : 'matching'} incidents.\n`);
    if (!json) sayIfMore(listed, 'most recently changed');
  },
});

/** Compares incidents for sorting: unacknowledged first, then by severity, then by age. */
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
      foldSpaces(row.title),
    ]),
    { paint: paintSeverity, dropped: ['ALERTS', 'SINCE', 'WHERE'], fixed: ['#', 'SEVERITY'] },
  );

const describeState = ({ state, acknowledgedBy, silencedBy, cause }: Incident): string =>
  [
    state === 'acknowledged' && acknowledgedBy !== null ? toPerson(acknowledgedBy) : state,
    silencedBy.length > 0 && 'silenced',
    cause && state !== 'resolved' && `because of #${cause.number}`,
  ]
    .filter(Boolean)
    .join(', ');

const oneIncident = { name: 'NUMBER', numbers: 'incidents' } as const;
const someIncidents = { name: 'NUMBER...', isList: true, numbers: 'incidents' } as const;

export const incidentCommand = defineAskingCommand({
  name: 'incident',
  argument: oneIncident,
  summary: 'Show one incident with its timeline.',
  flags: {
    report: { summary: 'Print the timeline as Markdown, for a review.' },
  },
  scope: 'incidents:read',
  run: async ({ ask, askText, show }, { words: [number = ''], own: { report } }) => {
    const path = `api/incidents/${encodeURIComponent(toNumber(number))}`;
    if (report) print(escapeLines(await askText(`${path}/report`)));
    else show([await ask<Static<typeof IncidentDetails>>(path)], (rows) => rows.map(describeIncident).join(''));
  },
});

const describeIncident = (row: Static<typeof IncidentDetails>): string =>
  [
    withWhole(toIncidentTable([row]), row.title),
    ...(row.acknowledgedUntil === null ? [] : [`Acknowledged until ${toReadableTime(row.acknowledgedUntil)}.\n`]),
    ...(row.silencedBy.length === 0
      ? []
      : [`No notifications: silenced by ${row.silencedBy.map(toShortId).join(', ')}.\n`]),
    ...(row.cause ? [`Cause: incident #${row.cause.number}, ${foldSpaces(row.cause.name)}.\n`] : []),
    '\n',
    toTable(
      ['WHEN', 'WHAT', 'WHO', 'MORE'],
      row.timeline.map(({ at, type, by, level, until, reason, comment, task, destination, what, result, ...more }) => [
        toReadableTime(at),
        toEventName(type),
        destination ?? (by === null ? '' : toPerson(by)),
        [
          ...[level, what !== type && what, result !== null && result !== 'delivered' && foldSpaces(result)],
          ...[
            more.targets?.map(toTargetName).join(', '),
            more.policy !== null && `step ${more.step} of ${more.policy}`,
          ],
          ...[reason, until !== null && `until ${toReadableTime(until)}`],
          ...[task !== null && `task ${task}`, foldSpaces(comment ?? '')],
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
  summary: 'Acknowledge one or more incidents.',
  details: [
    'An acknowledged incident sends no reminders until the incident is resolved, or until the time in --until.',
  ],
  flags: {
    until: {
      value: 'TIME',
      summary: 'Time at which the incident reopens: 18:00, 2h, 30m, 1d or an RFC 3339 time.',
    },
    message: messageFlag,
  },
  scope: 'incidents:write',
  run: (asking, { words, own: { until, message } }) =>
    act(asking, 'acknowledge', words, {
      ...(message !== undefined && { comment: message }),
      ...(until !== undefined && { until: parseUntil(until, new Date()).toISOString() }),
    }),
});

export const resolveCommand = defineAskingCommand({
  name: 'resolve',
  argument: someIncidents,
  summary: 'Resolve one or more incidents.',
  flags: { message: messageFlag },
  scope: 'incidents:write',
  run: (asking, { words, own: { message } }) =>
    act(asking, 'resolve', words, message === undefined ? {} : { comment: message }),
});

export const escalateCommand = defineAskingCommand({
  name: 'escalate',
  argument: oneIncident,
  summary: "Take the next step of an incident's escalation policy now.",
  flags: {},
  scope: 'incidents:write',
  run: async ({ ask, show }, { words: [number = ''] }) => {
    const path = `api/incidents/${encodeURIComponent(toNumber(number))}/escalate`;
    show([await ask<Incident>(path, { method: 'POST', body: {} })], toIncidentTable);
  },
});

export const takeOverCommand = defineAskingCommand({
  name: 'take-over',
  argument: oneIncident,
  summary: 'Take over an incident from the user who acknowledged it, and notify that user.',
  flags: { message: messageFlag },
  scope: 'incidents:write',
  run: async ({ ask, show }, { words: [number = ''], own: { message } }) => {
    const path = `api/incidents/${encodeURIComponent(toNumber(number))}/take-over`;
    const body = message === undefined ? {} : { comment: message };
    show([await ask<Incident>(path, { method: 'POST', body })], toIncidentTable);
  },
});

export const addRespondersCommand = defineAskingCommand({
  name: 'add-responders',
  argument: oneIncident,
  summary: 'Ask users to help with an incident, and notify them.',
  flags: {
    people: { value: 'NAMES', summary: 'Users, separated by commas.' },
    message: messageFlag,
  },
  scope: 'incidents:write',
  run: async ({ ask, show }, { words: [number = ''], own: { people: given = '', message } }) => {
    const people = given.split(/\s*,\s*/).filter(Boolean);
    if (people.length === 0) throw new UsageError('name at least one user with --people');
    const path = `api/incidents/${encodeURIComponent(toNumber(number))}/responders`;
    const body = { people, ...(message !== undefined && { comment: message }) };
    show([await ask<Incident>(path, { method: 'POST', body })], toIncidentTable);
  },
});

/** Applies an action to each incident. The exit code is 1 if the server refused any of the actions. */
const act = async (
  { ask, show }: Asking,
  action: 'acknowledge' | 'resolve',
  words: readonly string[],
  more: object,
): Promise<number> => {
  if (words.length === 0) throw new UsageError('give the number of at least one incident, such as 412');
  const ids = words.map(toNumber);
  const sent = { method: 'POST', body: { ids, ...more } };
  const { data } = await ask<Static<typeof BulkResult>>(`api/incidents/${action}`, sent);
  const rows = data.flatMap(({ incident: row, error }) => (row !== null && error === null ? row : []));
  for (const { id, error } of data) if (error !== null) say(`#${id}: ${error}`);
  show(rows, toIncidentTable);
  return rows.length < data.length ? 1 : 0;
};

/** Parses the number of an incident. Also accepts `#412`, although shells treat it as a comment unless it is quoted. */
const toNumber = (word: string): string => {
  const number = word.replace(/^#/, '');
  if (!/^[\w-]{1,36}$/.test(number)) {
    throw new UsageError(`${JSON.stringify(word)} is not an incident number such as 412`);
  }
  return number;
};
