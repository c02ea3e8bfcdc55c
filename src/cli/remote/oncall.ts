import type { PersonLoad } from '../../features/notifications/oncall/load-routes.ts';
import type { DutyOverride, OnCall, OnCallShift } from '../../features/notifications/oncall/schema.ts';
import { UsageError } from '../args.ts';
import { say } from '../stdio.ts';
import { type Asking, defineAskingCommand, findById, type ListReply, toShortId } from './ask.ts';
import { foldSpaces, toReadableTime, toTable } from './table.ts';
import { parseUntil, parseWhen } from './until.ts';

export const oncallCommand = defineAskingCommand({
  name: 'oncall',
  summary: 'Show the people on call and next in each rotation, or override a rotation.',
  flags: {
    at: { value: 'TIME', summary: 'Show the people on call at this time, in the format of --until. Default: now.' },
    nextWeek: { summary: 'List the shifts of next week, from Monday on.' },
    nextMonth: { summary: 'List the shifts of next month.' },
    load: {
      value: 'PERSON',
      summary:
        'Show the pages and disturbed nights of a user (me for yourself) by week. SIGNALBOX_KEY must be a user token.',
    },
    override: { value: 'ROTATION=MEMBER', summary: 'Put this member of a rotation on call; needs --until.' },
    from: { value: 'TIME', summary: 'Start of the override, in the format of --until. Default: now.' },
    until: {
      value: 'TIME',
      summary: 'End of the override: 18:00, "Thu 18:00", 2h, 30m, 1d or an RFC 3339 time.',
    },
    message: { value: 'TEXT', short: 'm', summary: 'Comment for the override.' },
    end: {
      value: 'ROTATION',
      summary: 'End the current override of this rotation, or the override whose id begins with this text.',
    },
  },
  scope: 'incidents:read, or incidents:write for --override and --end',
  run: async (asking, { own: { at, nextWeek, nextMonth, load, override, from, until, message, end } }) => {
    const { ask, show } = asking;
    const now = new Date();
    // In version 1.1, --at was the start of an override.
    const isFormer = override !== undefined && from === undefined;
    const named = [load, override].map((value) => value !== undefined);
    const chosen = [nextWeek, nextMonth, ...named, end !== undefined, at !== undefined && !isFormer];
    if (chosen.filter(Boolean).length > 1) {
      throw new UsageError('use only one of --at, --next-week, --next-month, --load, --override and --end');
    }
    if (override === undefined && (from ?? until ?? message) !== undefined) {
      throw new UsageError('--from, --until and --message need --override');
    }
    if (end !== undefined) return endOverride(asking, end);
    if (load !== undefined) {
      const { weeks } = await ask<PersonLoad>(`api/people/${encodeURIComponent(load)}/load`);
      return show(weeks, toLoadTable, nothing);
    }
    if (nextWeek || nextMonth) {
      const query = nextWeek ? toNextWeek(now) : toNextMonth(now);
      return show((await ask<ListReply<OnCallShift>>('api/oncall/schedule', { query })).data, toShiftTable, nothing);
    }
    if (override === undefined) {
      const query = { at: at === undefined ? undefined : parseWhen('--at', at, now).toISOString() };
      return show((await ask<ListReply<OnCall>>('api/oncall', { query })).data, toOnCallTable, nothing);
    }
    const start = from ?? at;
    const startsAt = start === undefined ? undefined : parseWhen('--from', start, now);
    const fields = readOverride(override, until, now, startsAt);
    const comment = message !== undefined && { comment: message };
    const body = { ...fields, ...(startsAt !== undefined && { startsAt: startsAt.toISOString() }), ...comment };
    const created = await ask<DutyOverride>('api/oncall/overrides', { method: 'POST', body });
    return show([created], ([row]) => (row ? describeOverride(row) : ''));
  },
});

const describeOverride = ({ member, rotation, startsAt, endsAt }: DutyOverride): string =>
  `${member} is on call in ${rotation} from ${toMinute(startsAt)} until ${toMinute(endsAt)}\n`;

const endOverride = async ({ ask, show }: Asking, named: string): Promise<number> => {
  const { data: rotations } = await ask<ListReply<OnCall>>('api/oncall');
  const rotation = rotations.find((one) => one.rotation === named);
  const { data } = await ask<ListReply<DutyOverride>>('api/oncall/overrides');
  const override = rotation ? rotation.override : findById(data, named, 'override');
  if (override === null) say(`rotation ${named} has no override now`);
  if (!override) return 1;
  const ended = await ask<DutyOverride>(`api/oncall/overrides/${override.id}`, { method: 'DELETE' });
  show([ended], () => `ended the override of ${ended.rotation} by ${ended.member}\n`);
  return 0;
};

const readOverride = (override: string, until: string | undefined, now: Date, from: Date | undefined) => {
  const [, rotation, member] = /^([^=]+)=([^=]+)$/.exec(override) ?? [];
  if (rotation === undefined || member === undefined) {
    throw new UsageError(`--override must be ROTATION=MEMBER, not ${JSON.stringify(override)}`);
  }
  if (until === undefined) throw new UsageError('--override needs --until, such as --until 18:00');
  return { rotation, member, endsAt: parseUntil(until, now, from).toISOString() };
};

/** Shown when nobody is on call. */
const nobody = 'nobody';

const nothing = 'No rotations.\n';

const toOnCallTable = (rows: readonly OnCall[]): string =>
  toTable(
    ['ROTATION', 'ON CALL', 'UNTIL', 'NEXT', 'OVERRIDE'],
    rows.map(({ rotation, member, endsAt, override, next }) => [
      ...[rotation, member ?? nobody, endsAt === null ? '' : toMinute(endsAt), next?.member ?? ''],
      override === null ? '' : [override.createdBy, foldSpaces(override.comment)].join(' ').trim(),
    ]),
    { dropped: ['NEXT'], fixed: ['UNTIL'] },
  );

const toLoadTable = (rows: readonly PersonLoad['weeks'][number][]): string =>
  toTable(
    ['WEEK', 'PAGES', 'DISTURBED NIGHTS', 'NOT ACTED ON'],
    rows.map(({ week, pages, nights, notActedOn }) => [
      ...[week, `${pages}`, `${nights}`],
      notActedOn.map(({ number }) => `#${number}`).join(' '),
    ]),
    { fixed: ['WEEK'] },
  );

/** Returns the next Monday. */
const toNextWeek = (now: Date) => {
  const monday = new Date(now);
  monday.setHours(0, 0, 0, 0);
  monday.setDate(monday.getDate() + ((8 - monday.getDay()) % 7 || 7));
  const end = new Date(monday);
  end.setDate(end.getDate() + 7);
  return { from: monday.toISOString(), to: end.toISOString() };
};

const toNextMonth = (now: Date) => ({
  from: new Date(now.getFullYear(), now.getMonth() + 1, 1).toISOString(),
  to: new Date(now.getFullYear(), now.getMonth() + 2, 1).toISOString(),
});

const toShiftTable = (rows: readonly OnCallShift[]): string =>
  toTable(
    ['ROTATION', 'ON CALL', 'FROM', 'UNTIL', ''],
    rows.map(({ rotation, member, startsAt, endsAt, override }) => [
      ...[rotation, member ?? nobody, ...[startsAt, endsAt].map((time) => (time === null ? '' : toMinute(time)))],
      override === null ? '' : `override ${toShortId(override)}`,
    ]),
    { fixed: ['FROM', 'UNTIL'] },
  );

/** Formats a time to the minute: `Mon 2026-01-31 09:30`. */
const toMinute = (time: string): string =>
  `${new Date(time).toLocaleDateString('en-US', { weekday: 'short' })} ${toReadableTime(time).slice(0, 16)}`;
