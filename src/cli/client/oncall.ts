import { UsageError } from '../args.ts';
import { defineCommand } from '../command.ts';
import { print } from '../stdio.ts';
import { ask, askedVariables, askingExitCodes, jsonFlag, printLines, urlFlag } from './ask.ts';
import { type AlertServer, readServer } from './server.ts';
import { toOneLine, toReadableTime, toTable } from './table.ts';
import { parseUntil, parseWhen } from './until.ts';

/** What the command prints of a rotation. */
interface DutyRow {
  rotation: string;
  member: string;
  endsAt: string | null;
  override: { comment: string; createdBy: string } | null;
  next: { member: string; startsAt: string } | null;
}

interface ShiftRow {
  rotation: string;
  member: string;
  startsAt: string | null;
  endsAt: string | null;
  override: string | null;
}

export const oncallCommand = defineCommand({
  name: 'oncall',
  summary: 'List who is on duty in each rotation, until when, and who follows; or put somebody else on duty.',
  flags: {
    at: { value: 'TIME', summary: 'Who it is at that time; with --override, from when. Like --until. Default now.' },
    nextWeek: { summary: 'List the shifts of next week, from Monday on.' },
    override: { value: 'ROTATION=MEMBER', summary: 'Put this member on duty; needs --until.' },
    until: {
      value: 'TIME',
      summary: 'When the override ends: 18:00, "Thu 18:00", 2h, 30m, 1d or an RFC 3339 time.',
    },
    message: { value: 'TEXT', short: 'm', summary: 'Comment for the override.' },
    json: jsonFlag,
    url: urlFlag,
  },
  variables: askedVariables('incidents:read, or incidents:write for --override'),
  exitCodes: askingExitCodes,
  run: async ({ own: { at, nextWeek, override, until, message, json, url } }) => {
    const now = new Date();
    if (nextWeek && (at ?? override) !== undefined)
      throw new UsageError('give --next-week without --at and --override');
    if (override === undefined && (until ?? message) !== undefined) {
      throw new UsageError('--until and --message belong to --override');
    }
    const when = at === undefined ? undefined : parseWhen('--at', at, now).toISOString();
    const server = readServer(url);
    if (nextWeek) return listNextWeek(server, now, json === true);
    if (override === undefined) return showDuty(server, when, json === true);
    const fields = readOverride(override, until, now);
    const comment = message !== undefined && { comment: message };
    const body = { ...fields, ...(when !== undefined && { startsAt: when }), ...comment };
    return ask(server, 'POST', 'api/oncall/overrides', body, (made) => {
      if (json) return printLines([made]);
      const [from, to] = [toMinute(String(made['startsAt'])), toMinute(String(made['endsAt']))];
      print(`${fields.member} is on duty in ${fields.rotation} from ${from} until ${to}\n`);
    });
  },
});

const readOverride = (override: string, until: string | undefined, now: Date) => {
  const [, rotation, member] = /^([^=]+)=([^=]+)$/.exec(override) ?? [];
  if (rotation === undefined || member === undefined) {
    throw new UsageError(`--override must be ROTATION=MEMBER, not ${JSON.stringify(override)}`);
  }
  if (until === undefined) throw new UsageError('--override needs --until, such as --until 18:00');
  return { rotation, member, endsAt: parseUntil(until, now).toISOString() };
};

const showDuty = (server: AlertServer, at: string | undefined, isJson: boolean): Promise<number> => {
  const query = at === undefined ? '' : `?${new URLSearchParams({ at })}`;
  return ask(server, 'GET', `api/oncall${query}`, undefined, ({ data }) => {
    const rows = data as DutyRow[];
    if (isJson) return printLines(rows);
    if (rows.length === 0) return print('The server has no rotations.\n');
    print(
      toTable(
        ['ROTATION', 'ON DUTY', 'UNTIL', 'NEXT', 'OVERRIDE'],
        rows.map(({ rotation, member, endsAt, override, next }) => [
          ...[rotation, member, endsAt === null ? '' : toMinute(endsAt), next?.member ?? ''],
          override === null ? '' : [override.createdBy, toOneLine(override.comment)].join(' ').trim(),
        ]),
        { dropped: ['NEXT'], fixed: ['UNTIL'] },
      ),
    );
  });
};

const listNextWeek = (server: AlertServer, now: Date, isJson: boolean): Promise<number> => {
  const monday = new Date(now);
  monday.setHours(0, 0, 0, 0);
  monday.setDate(monday.getDate() + ((8 - monday.getDay()) % 7 || 7));
  const end = new Date(monday);
  end.setDate(end.getDate() + 7);
  const query = new URLSearchParams({ from: monday.toISOString(), to: end.toISOString() });
  return ask(server, 'GET', `api/oncall/schedule?${query}`, undefined, ({ data }) => {
    const rows = data as ShiftRow[];
    if (isJson) return printLines(rows);
    if (rows.length === 0) return print('The server has no rotations.\n');
    print(
      toTable(
        ['ROTATION', 'ON DUTY', 'FROM', 'UNTIL', ''],
        rows.map(({ rotation, member, startsAt, endsAt, override }) => [
          ...[rotation, member, ...[startsAt, endsAt].map((time) => (time === null ? '' : toMinute(time)))],
          override === null ? '' : 'override',
        ]),
        { fixed: ['FROM', 'UNTIL'] },
      ),
    );
  });
};

/** `Mon 2026-01-31 09:30`. */
const toMinute = (time: string): string =>
  `${new Date(time).toLocaleDateString('en-US', { weekday: 'short' })} ${toReadableTime(time).slice(0, 16)}`;
