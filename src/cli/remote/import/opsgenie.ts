import { dayMs, hourMs, minuteMs } from '../../../lib/units.ts';
import { Entry, ImportError } from './documents.ts';
import type { Download } from './download.ts';
import { type DraftRotation, Names, type OnCallDraft, reservedPolicies, toDraftPolicy } from './draft.ts';
import { onDays, openZone, toLayer, type WeekSpan } from './draft-layer.ts';

const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const everyDay = [0, 1, 2, 3, 4, 5, 6];
const periods = new Map([
  ['hourly', hourMs],
  ['daily', dayMs],
  ['weekly', 7 * dayMs],
]);
const units = new Map([
  ['seconds', 1000],
  ['minutes', minuteMs],
  ['hours', hourMs],
  ['days', dayMs],
]);

/** Downloads the lists: `users`, `schedules` with their rotations, `overrides` by schedule, and `escalations`. */
export const downloadOpsgenie = async ({ get }: Download): Promise<object> => {
  const all = async (path: string): Promise<unknown[]> => {
    const data: unknown[] = [];
    for (let next: string | undefined = path; next !== undefined; ) {
      const page: Entry = new Entry(await get(next), next);
      data.push(...page.values('data'));
      next = page.has('paging') ? page.entry('paging').find('next') : undefined;
    }
    return data;
  };
  const schedules = await all('/v2/schedules?expand=rotation');
  const overrides: Record<string, unknown> = {};
  for (const schedule of schedules) {
    const id = new Entry(schedule, 'schedules').text('id');
    overrides[id] = { data: await all(`/v2/schedules/${encodeURIComponent(id)}/overrides`) };
  }
  const [users, escalations] = [await all('/v2/users?limit=500'), await all('/v2/escalations')];
  return { users: { data: users }, schedules: { data: schedules }, overrides, escalations: { data: escalations } };
};

/**
 * Reads an export of Opsgenie. All rotations of a schedule are on call at the same time, so each becomes a separate
 * rotation.
 */
export const readOpsgenie = (root: Entry): OnCallDraft => {
  const draft: OnCallDraft = { people: [], rotations: [], policies: [], notes: [] };
  const byName = new Map<string, string>();
  for (const user of listOf(root, 'users')) {
    const [id, name] = [user.text('id'), user.text('username')];
    byName.set(name.toLowerCase(), id);
    draft.people.push({ id, name, email: name.includes('@') ? name : undefined });
  }
  const toPerson = (user: Entry): string | undefined => {
    const id = user.find('id') ?? byName.get(user.find('username')?.toLowerCase() ?? '');
    return draft.people.some((person) => person.id === id) ? id : undefined;
  };
  const names = new Names();
  /** Targets by the id and the name of their schedule. */
  const targets = new Map<string, string[]>();
  for (const schedule of listOf(root, 'schedules')) {
    const rotations = readSchedule(schedule, { draft, names, toPerson });
    readOverrides(root, schedule, rotations, { draft, toPerson });
    const own = rotations.map(({ rotation }) => `rotation:${rotation.name}`);
    for (const key of [schedule.text('id'), schedule.text('name')]) targets.set(key, own);
  }
  const policyNames = new Names(reservedPolicies);
  for (const escalation of listOf(root, 'escalations')) {
    const name = policyNames.add(escalation.text('name'));
    const steps = escalation.list('rules').map((rule) => {
      const [recipient, delay] = [rule.entry('recipient'), rule.entry('delay')];
      const unit = units.get(delay.find('timeUnit') ?? 'minutes') ?? minuteMs;
      const found = readRecipient(recipient, { toPerson, targets });
      if (found.length === 0)
        draft.notes.push(
          `policy ${name}: ${recipient.find('type') ?? 'recipient'} ${nameOf(recipient)} cannot be notified`,
        );
      if (!['default', 'users', undefined].includes(rule.find('notifyType'))) {
        draft.notes.push(`policy ${name}: notifyType ${rule.find('notifyType')} is replaced by the people on call`);
      }
      return { at: delay.number('timeAmount', 0) * unit, targets: found };
    });
    const repeat = escalation.has('repeat') ? escalation.entry('repeat') : undefined;
    const lastMs = (repeat?.number('waitInterval', 5) ?? 5) * minuteMs;
    const policy = toDraftPolicy(name, steps, { lastMs, repeat: repeat?.number('count', 0) ?? 0 }, draft.notes);
    if (policy) draft.policies.push(policy);
  }
  return draft;
};

const nameOf = (recipient: Entry): string =>
  recipient.find('name') ?? recipient.find('username') ?? recipient.find('type') ?? '';

const listOf = (root: Entry, member: string): Entry[] => (root.has(member) ? root.entry(member).list('data') : []);

interface ReadingParts {
  draft: OnCallDraft;
  toPerson(user: Entry): string | undefined;
}

interface ReadRotation {
  id: string;
  rotation: DraftRotation;
}

const readSchedule = (schedule: Entry, { draft, names, toPerson }: ReadingParts & { names: Names }): ReadRotation[] => {
  const title = schedule.text('name');
  const rotations = schedule.list('rotations');
  if (rotations.length === 0) draft.notes.push(`schedule ${title}: there are no rotations`);
  return rotations.flatMap((rotation) => {
    const label = rotations.length === 1 ? title : `${title} ${rotation.find('name') ?? ''}`;
    try {
      const { timeZone, clock } = openZone(schedule.find('timezone') ?? 'UTC');
      const people = rotation.list('participants').map((participant) => {
        const person = participant.find('type') === 'user' ? toPerson(participant) : undefined;
        if (person === undefined)
          throw new ImportError(`participant ${nameOf(participant)} is not in the list of users`);
        return person;
      });
      const periodMs = (periods.get(rotation.text('type')) ?? 0) * rotation.number('length', 1);
      const until = rotation.has('endDate') ? rotation.time('endDate') : undefined;
      const spans = rotation.has('timeRestriction') ? readRestriction(rotation.entry('timeRestriction')) : undefined;
      const local = clock.toLocal(rotation.time('startDate'));
      const layer = toLayer({ people, periodMs, local, clock, until, ...(spans && { spans }) });
      const own = { name: names.add(label), timeZone, layers: [layer], overrides: [] };
      draft.rotations.push(own);
      return [{ id: rotation.find('id') ?? '', rotation: own }];
    } catch (error) {
      if (!(error instanceof ImportError)) throw error;
      draft.notes.push(`rotation ${label}: ${error.message}`);
      return [];
    }
  });
};

const readRestriction = (given: Entry): WeekSpan[] => {
  const minuteOf = (part: Entry, side: 'start' | 'end') =>
    part.number(`${side}Hour`, 0) * 60 + part.number(`${side}Min`, 0);
  if (given.find('type') === 'time-of-day') {
    const part = given.entry('restriction');
    return onDays(everyDay, minuteOf(part, 'start'), minuteOf(part, 'end'));
  }
  return given.list('restrictions').map((part) => {
    const [from, to] = (['startDay', 'endDay'] as const).map((member) => days.indexOf(part.text(member).toLowerCase()));
    if (from === undefined || to === undefined || from < 0 || to < 0)
      throw new ImportError('a restriction has an unknown day');
    const start = from * 1440 + minuteOf(part, 'start');
    const end = to * 1440 + minuteOf(part, 'end');
    return { start, minutes: end > start ? end - start : end - start + 7 * 1440 };
  });
};

const readOverrides = (
  root: Entry,
  schedule: Entry,
  rotations: readonly ReadRotation[],
  { draft, toPerson }: ReadingParts,
): void => {
  const id = schedule.text('id');
  if (!root.has('overrides') || !root.entry('overrides').has(id)) return;
  for (const override of root.entry('overrides').entry(id).list('data')) {
    const person = toPerson(override.entry('user'));
    const ids = override.list('rotations').map((each) => each.find('id'));
    const of = rotations.filter((each) => ids.length === 0 || ids.includes(each.id));
    if (person === undefined)
      draft.notes.push(`schedule ${schedule.text('name')}: an override by a person who is not in the list of users`);
    else
      for (const { rotation } of of)
        rotation.overrides.push({ person, startsAt: override.time('startDate'), endsAt: override.time('endDate') });
  }
};

const readRecipient = (
  recipient: Entry,
  { toPerson, targets }: Pick<ReadingParts, 'toPerson'> & { targets: ReadonlyMap<string, string[]> },
): string[] => {
  const type = recipient.find('type');
  if (type === 'schedule')
    return targets.get(recipient.find('id') ?? '') ?? targets.get(recipient.find('name') ?? '') ?? [];
  const person = type === 'user' ? toPerson(recipient) : undefined;
  return person === undefined ? [] : [`person:${person}`];
};
