import type { OnCall, OnCallShift } from '../../profiles/notifications/oncall-schema.ts';
import { UsageError } from '../args.ts';
import { defineAskingCommand, type Listed } from './ask.ts';
import { toOneLine, toReadableTime, toTable } from './table.ts';
import { parseUntil, parseWhen } from './until.ts';

export const oncallCommand = defineAskingCommand({
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
  },
  scope: 'incidents:read, or incidents:write for --override',
  run: async ({ ask, show }, { own: { at, nextWeek, override, until, message } }) => {
    const now = new Date();
    if (nextWeek && (at ?? override) !== undefined)
      throw new UsageError('give --next-week without --at and --override');
    if (override === undefined && (until ?? message) !== undefined) {
      throw new UsageError('--until and --message belong to --override');
    }
    const when = at === undefined ? undefined : parseWhen('--at', at, now).toISOString();
    if (nextWeek) {
      const { data } = await ask<Listed<OnCallShift>>('api/oncall/schedule', { query: toNextWeek(now) });
      return show(data, toShiftTable, nothing);
    }
    if (override === undefined) {
      return show((await ask<Listed<OnCall>>('api/oncall', { query: { at: when } })).data, toDutyTable, nothing);
    }
    const fields = readOverride(override, until, now);
    const comment = message !== undefined && { comment: message };
    const body = { ...fields, ...(when !== undefined && { startsAt: when }), ...comment };
    const made = await ask<{ startsAt: string; endsAt: string }>('api/oncall/overrides', { method: 'POST', body });
    const times = `from ${toMinute(made.startsAt)} until ${toMinute(made.endsAt)}`;
    return show([made], () => `${fields.member} is on duty in ${fields.rotation} ${times}\n`);
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

const nothing = 'The server has no rotations.\n';

const toDutyTable = (rows: readonly OnCall[]): string =>
  toTable(
    ['ROTATION', 'ON DUTY', 'UNTIL', 'NEXT', 'OVERRIDE'],
    rows.map(({ rotation, member, endsAt, override, next }) => [
      ...[rotation, member, endsAt === null ? '' : toMinute(endsAt), next?.member ?? ''],
      override === null ? '' : [override.createdBy, toOneLine(override.comment)].join(' ').trim(),
    ]),
    { dropped: ['NEXT'], fixed: ['UNTIL'] },
  );

/** From Monday on. */
const toNextWeek = (now: Date) => {
  const monday = new Date(now);
  monday.setHours(0, 0, 0, 0);
  monday.setDate(monday.getDate() + ((8 - monday.getDay()) % 7 || 7));
  const end = new Date(monday);
  end.setDate(end.getDate() + 7);
  return { from: monday.toISOString(), to: end.toISOString() };
};

const toShiftTable = (rows: readonly OnCallShift[]): string =>
  toTable(
    ['ROTATION', 'ON DUTY', 'FROM', 'UNTIL', ''],
    rows.map(({ rotation, member, startsAt, endsAt, override }) => [
      ...[rotation, member, ...[startsAt, endsAt].map((time) => (time === null ? '' : toMinute(time)))],
      override === null ? '' : 'override',
    ]),
    { fixed: ['FROM', 'UNTIL'] },
  );

/** `Mon 2026-01-31 09:30`. */
const toMinute = (time: string): string =>
  `${new Date(time).toLocaleDateString('en-US', { weekday: 'short' })} ${toReadableTime(time).slice(0, 16)}`;
