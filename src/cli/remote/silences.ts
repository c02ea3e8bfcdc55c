import type { Silence } from '../../features/silences/schema.ts';
import { readChoice, UsageError } from '../args.ts';
import { type Asking, defineAskingCommand, findById, type ListReply, sayIfMore, toShortId } from './ask.ts';
import { foldSpaces, toReadableTime, toTable } from './table.ts';
import { parseUntil, parseWhen } from './until.ts';

const usualSpan = '1h';

/** Properties that a match can have. Other names are label names. */
const members = ['source', 'hostname', 'level', 'text'];

const states = ['current', 'active', 'pending', 'expired', 'all'] as const;

export const silencesCommand = defineAskingCommand({
  name: 'silences',
  summary: 'List the silences of a server: matching alerts notify nobody until the silence ends.',
  flags: {
    state: {
      value: 'STATE',
      summary: 'Silences in this state. Default: current (active or pending).',
      choices: states,
    },
  },
  scope: 'incidents:read',
  run: async ({ ask, show }, { own: { state: given = 'current' } }) => {
    const state = readChoice('--state', given, states);
    const listed = await ask<ListReply<Silence>>('api/silences', toQueryOf(state === 'current' ? 'all' : state));
    const rows = state === 'current' ? listed.data.filter((row) => row.state !== 'expired') : listed.data;
    show(rows, toSilenceTable, `No ${state} silences.\n`);
    sayIfMore(listed, 'newest');
  },
});

const toQueryOf = (state: string) => ({ query: { limit: 1000, state } });

const toSilenceTable = (rows: readonly Silence[]): string =>
  toTable(
    ['ID', 'STATE', 'FROM', 'UNTIL', 'BY', 'SILENCES'],
    rows.map((row) => {
      const { startsAt, endsAt } = row.window ?? { startsAt: null, endsAt: row.endsAt };
      return [
        toShortId(row.id),
        row.state,
        startsAt === null ? '' : toReadableTime(startsAt),
        endsAt === null ? '' : toReadableTime(endsAt),
        row.createdBy,
        [describeMatch(row), describeSchedule(row), row.maintenance ? '(maintenance)' : '', foldSpaces(row.comment)]
          .filter(Boolean)
          .join('  '),
      ];
    }),
    { dropped: ['FROM', 'BY'], fixed: ['ID', 'FROM', 'UNTIL'] },
  );

const describeMatch = ({ match, matchers }: Silence): string => {
  if (matchers) {
    return matchers
      .map(({ name, value, isRegex, isEqual }) => {
        const operator = isRegex ? (isEqual ? '=~' : '!~') : isEqual ? '=' : '!=';
        return `${name}${operator}${value}`;
      })
      .join(' ');
  }
  const { labels = {}, ...texts } = match ?? {};
  return [...Object.entries(texts), ...Object.entries(labels as object)]
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
};

const describeSchedule = ({ schedule, minutes }: Silence): string =>
  schedule === null ? '' : `(${schedule}, ${minutes} min)`;

export const silenceCommand = defineAskingCommand({
  name: 'silence',
  argument: { name: 'NAME=PATTERN...', isList: true },
  summary: 'Create a silence, during which matching alerts notify nobody, or end a silence.',
  details: [
    'NAME is source, hostname, level, text (the message) or a label; in PATTERN, * matches any text. All patterns must match.',
    'With --schedule, a maintenance window of the duration --for starts at each time of the cron expression.',
  ],
  flags: {
    from: { value: 'TIME', summary: 'Start of the silence: 18:00, "Thu 18:00", 2h or an RFC 3339 time. Default: now.' },
    for: { value: 'TIME', summary: `Duration: 30m, 2h or 1d. Default ${usualSpan}.` },
    until: { value: 'TIME', summary: 'End of the silence: 18:00, "Thu 18:00", 2h or an RFC 3339 time.' },
    schedule: {
      value: 'CRON',
      summary: 'Cron expression for the start of each maintenance window, such as "0 2 * * 6".',
    },
    zone: {
      value: 'NAME',
      summary: "Time zone of the schedule, such as Europe/Berlin. Default: the server's time zone.",
    },
    maintenance: { summary: 'Count the time as maintenance, not as downtime, of the checks covered.' },
    message: { value: 'TEXT', short: 'm', summary: 'Comment for the silence.' },
    expire: { value: 'ID', summary: 'End the silence whose id begins with this text.' },
  },
  scope: 'incidents:write',
  run: async (asking, { words, own: { from, for: span, until, schedule, zone, maintenance, message, expire } }) => {
    if (expire !== undefined) {
      if (words.length > 0) throw new UsageError('--expire ends a silence and takes no patterns: remove the patterns');
      return end(asking, expire);
    }
    const now = new Date();
    const start = from === undefined ? undefined : parseWhen('--from', from, now);
    const body = {
      match: toMatch(words),
      ...(start !== undefined && { startsAt: start.toISOString() }),
      ...(schedule === undefined ? toEnd(span, until, now, start) : toWindows(schedule, span, until, now, start)),
      ...(zone !== undefined && { timeZone: zone }),
      ...(maintenance && { maintenance: true }),
      ...(message !== undefined && { comment: message }),
    };
    return asking.show([await asking.ask<Silence>('api/silences', { method: 'POST', body })], toSilenceTable);
  },
});

const end = async ({ ask, show }: Asking, id: string): Promise<number> => {
  const listed = await ask<ListReply<Silence>>('api/silences', toQueryOf('all'));
  sayIfMore(listed, 'newest');
  const silence = findById(listed.data, id, 'silence');
  if (silence === undefined) return 1;
  show([await ask<Silence>(`api/silences/${silence.id}`, { method: 'DELETE' })], toSilenceTable);
  return 0;
};

const toMatch = (words: readonly string[]): object => {
  if (words.length === 0) throw new UsageError("give at least one pattern, such as 'source=backup*'");
  const pairs = words.map((word) => {
    const [, name, pattern] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
    if (name !== undefined && pattern !== undefined) return [name, pattern] as const;
    throw new UsageError(
      `a pattern must have the form NAME=PATTERN, such as 'source=backup*', not ${JSON.stringify(word)}`,
    );
  });
  const labels = pairs.filter(([name]) => !members.includes(name));
  return {
    ...Object.fromEntries(pairs.filter(([name]) => members.includes(name))),
    ...(labels.length > 0 && { labels: Object.fromEntries(labels) }),
  };
};

const toEnd = (span: string | undefined, until: string | undefined, now: Date, start: Date | undefined): object => {
  if (span !== undefined && until !== undefined) throw new UsageError('use either --for or --until, not both');
  const endsAt = until === undefined ? toSpanEnd(span ?? usualSpan, start ?? now) : parseUntil(until, now, start);
  return { endsAt: endsAt.toISOString() };
};

const toWindows = (
  schedule: string,
  span: string | undefined,
  until: string | undefined,
  now: Date,
  start: Date | undefined,
): object => {
  const minutes = (toSpanEnd(span ?? usualSpan, now).getTime() - now.getTime()) / 60_000;
  return { schedule, minutes, ...(until !== undefined && { endsAt: parseUntil(until, now, start).toISOString() }) };
};

const toSpanEnd = (span: string, now: Date): Date => {
  if (/^[1-9]\d{0,3}[mhd]$/.test(span)) return parseWhen('--for', span, now);
  throw new UsageError(`--for must be a time such as 30m, 2h or 1d, not ${JSON.stringify(span)}`);
};
