import { dayMs, hourMs, minuteMs } from '../../../lib/units.ts';
import { Entry, ImportError } from './documents.ts';
import type { Download } from './download.ts';
import { type DraftRotation, Names, type OnCallDraft, reservedPolicies, toDraftPolicy } from './draft.ts';
import { findLayerProblem, openZone, toLayer, type WeekSpan } from './draft-layer.ts';

const days = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];
const lists = ['users', 'schedules', 'on_call_shifts', 'escalation_chains', 'escalation_policies'] as const;
/** Types of shifts that do not recur. */
const singleTypes = ['single_event', 'override'];
const periods = new Map([
  ['hourly', hourMs],
  ['daily', dayMs],
  ['weekly', 7 * dayMs],
]);

/** Downloads the lists of the API: users, schedules, shifts, escalation chains and their policies. */
export const downloadGrafanaOnCall = async ({ get }: Download): Promise<object> => {
  const documents: Record<string, unknown> = {};
  for (const list of lists) {
    const results: unknown[] = [];
    for (let page = 1, isMore = true; isMore; page += 1) {
      const response = new Entry(await get(`/api/v1/${list}/?page=${page}`), list);
      results.push(...response.values('results'));
      isMore = response.has('next');
    }
    documents[list] = { results };
  }
  return documents;
};

/** Reads an export of Grafana OnCall. */
export const readGrafanaOnCall = (root: Entry): OnCallDraft => {
  const draft: OnCallDraft = { people: [], rotations: [], policies: [], notes: [] };
  const listOf = (member: (typeof lists)[number]): Entry[] =>
    root.has(member) ? root.entry(member).list('results') : [];
  for (const user of listOf('users')) {
    draft.people.push({ id: user.text('id'), name: user.text('username'), email: user.find('email') });
  }
  const shifts = new Map(listOf('on_call_shifts').map((shift) => [shift.text('id'), shift]));
  const names = new Names();
  const targets = new Map<string, string>();
  for (const schedule of listOf('schedules')) {
    const rotation = readSchedule(schedule, shifts, draft, names);
    if (!rotation) continue;
    draft.rotations.push(rotation);
    targets.set(schedule.text('id'), `rotation:${rotation.name}`);
  }
  const policyNames = new Names(reservedPolicies);
  const rules = listOf('escalation_policies');
  for (const chain of listOf('escalation_chains')) {
    const own = rules.filter((rule) => rule.find('escalation_chain_id') === chain.text('id'));
    readChain(policyNames.add(chain.text('name')), own, { draft, targets });
  }
  return draft;
};

const readSchedule = (
  schedule: Entry,
  shifts: ReadonlyMap<string, Entry>,
  draft: OnCallDraft,
  names: Names,
): DraftRotation | undefined => {
  const title = schedule.text('name');
  if (schedule.find('type') === 'ical') {
    draft.notes.push(`schedule ${title}: calendars are not supported`);
    return undefined;
  }
  const layers: { level: number; layer: DraftRotation['layers'][number] }[] = [];
  const overrides: DraftRotation['overrides'] = [];
  let zone: ReturnType<typeof openZone> | undefined;
  for (const id of schedule.texts('shifts')) {
    const shift = shifts.get(id);
    const label = `schedule ${title}, shift ${shift?.find('name') ?? id}`;
    try {
      zone ??= openZone(toZoneName(schedule));
      if (!shift) throw new ImportError('the shift is not in the export');
      const own = shift.has('time_zone') ? openZone(shift.text('time_zone')) : zone;
      if (own.timeZone !== zone.timeZone) throw new ImportError('the shift has its own time zone');
      if (singleTypes.includes(shift.find('type') ?? '')) overrides.push(...readSingle(shift, zone.clock, draft));
      else layers.push({ level: shift.number('level', 0), layer: readRecurrent(shift, zone.clock, draft, label) });
    } catch (error) {
      if (!(error instanceof ImportError)) throw error;
      draft.notes.push(`${label}: ${error.message}`);
    }
  }
  const problem = findLayerProblem(layers);
  if (problem !== undefined || !zone) {
    draft.notes.push(`schedule ${title}: ${problem}`);
    return undefined;
  }
  const ordered = layers.sort((one, other) => one.level - other.level).map(({ layer }) => layer);
  return { name: names.add(title), timeZone: zone.timeZone, layers: ordered, overrides };
};

type Clock = ReturnType<typeof openZone>['clock'];

/** Returns the time zone of shifts that have no time zone of their own. The zone of a web schedule is only for display. */
const toZoneName = (schedule: Entry): string =>
  (schedule.find('type') === 'web' ? undefined : schedule.find('time_zone')) ?? 'UTC';

/** Parses a local time such as `2020-09-10T08:00:00`. */
const readLocal = (shift: Entry, member: string): number => {
  const time = Date.parse(`${shift.text(member).replace(/Z$/, '')}Z`);
  if (Number.isNaN(time)) throw new ImportError(`${member} is not a time`);
  return time;
};

const readSingle = (shift: Entry, clock: Clock, draft: OnCallDraft): DraftRotation['overrides'] => {
  const [person] = requirePeople(shift.texts('users'), draft);
  if (person === undefined) throw new ImportError('the export does not say who is on call');
  const startsAt = clock.toFirstTime(readLocal(shift, 'start'));
  return [{ person, startsAt, endsAt: startsAt + shift.number('duration') * 1000 }];
};

const requirePeople = (ids: readonly string[], { people }: OnCallDraft): readonly string[] => {
  const stranger = ids.find((id) => !people.some((person) => person.id === id));
  if (stranger !== undefined) throw new ImportError(`${stranger} is not in the list of users`);
  return ids;
};

const readRecurrent = (
  shift: Entry,
  clock: Clock,
  draft: OnCallDraft,
  label: string,
): DraftRotation['layers'][number] => {
  for (const member of ['by_month', 'by_monthday']) {
    if (shift.values(member).length > 0) throw new ImportError(`${member} is not supported`);
  }
  const frequency = shift.text('frequency');
  const unit = periods.get(frequency);
  if (unit === undefined) throw new ImportError(`frequency ${frequency} is not supported`);
  const isRolling = shift.find('type') === 'rolling_users';
  const groups = isRolling
    ? shift
        .values('rolling_users')
        .map((_, index) => new Entry({ group: shift.values('rolling_users')[index] }, label).texts('group'))
    : [shift.texts('users')];
  if (groups.some((group) => group.length > 1))
    draft.notes.push(`${label}: only the first person of each shift is on call`);
  const first = requirePeople(
    groups.flatMap((group) => group.slice(0, 1)),
    draft,
  );
  const index = shift.number('start_rotation_from_user_index', 0) % Math.max(1, first.length);
  const people = [...first.slice(index), ...first.slice(0, index)];
  const interval = shift.number('interval', 1);
  if (!isRolling && interval !== 1)
    throw new ImportError(`an interval of ${interval} is supported only with rolling_users`);
  const local = readLocal(shift, 'start');
  // The end is in UTC, whatever the time zone of the shift.
  const until = shift.has('until') ? readLocal(shift, 'until') : undefined;
  const spans = readSpans(shift, { local, unit, periodMs: unit * interval });
  return toLayer({ people, periodMs: unit * interval, local, clock, until, ...(spans && { spans }) });
};

/** Returns the hours during which a shift applies. Undefined for a shift that covers all of its turns. */
const readSpans = (
  shift: Entry,
  { local, unit, periodMs }: { local: number; unit: number; periodMs: number },
): WeekSpan[] | undefined => {
  const minutes = Math.round((shift.number('duration') * 1000) / minuteMs);
  const start = Math.floor((local % dayMs) / minuteMs);
  const listed = shift.texts('by_day').map((day) => days.indexOf(day));
  if (listed.includes(-1)) throw new ImportError('by_day has an unknown day');
  if (listed.length > 0) return listed.map((day) => ({ start: day * 1440 + start, minutes }));
  if (minutes * minuteMs >= periodMs) return undefined;
  if (unit === dayMs) return days.map((_, day) => ({ start: day * 1440 + start, minutes }));
  if (unit !== 7 * dayMs || periodMs !== unit) throw new ImportError('gaps between shifts are not supported');
  const day = (new Date(local).getUTCDay() + 6) % 7;
  return [{ start: day * 1440 + start, minutes }];
};

const readChain = (
  name: string,
  rules: readonly Entry[],
  { draft, targets }: { draft: OnCallDraft; targets: ReadonlyMap<string, string> },
): void => {
  let at = 0;
  let repeat = 0;
  let lastMs = 5 * minuteMs;
  const steps = rules
    .toSorted((one, other) => one.number('position', 0) - other.number('position', 0))
    .flatMap((rule) => {
      const type = rule.text('type');
      if (type === 'wait') {
        lastMs = rule.number('duration', 300) * 1000;
        at += lastMs;
        return [];
      }
      if (type === 'repeat_escalation') {
        repeat = 5;
        return [];
      }
      const people = [...rule.texts('persons_to_notify'), ...rule.texts('persons_to_notify_next_each_time')];
      const schedule = rule.find('notify_on_call_from_schedule');
      const found = [
        ...people.filter((id) => draft.people.some((person) => person.id === id)).map((id) => `person:${id}`),
        ...(schedule === undefined ? [] : [targets.get(schedule) ?? []].flat()),
      ];
      if (found.length === 0) draft.notes.push(`policy ${name}: steps of type ${type} are not supported`);
      if (type === 'notify_person_next_each_time')
        draft.notes.push(`policy ${name}: all people are notified instead of one person in turn`);
      return [{ at, targets: found }];
    });
  const policy = toDraftPolicy(name, steps, { lastMs, repeat }, draft.notes);
  if (policy) draft.policies.push(policy);
};
