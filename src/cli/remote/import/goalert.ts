import { dayMs, hourMs } from '../../../lib/units.ts';
import { Entry, ImportError } from './documents.ts';
import type { Download } from './download.ts';
import { addPolicies, type DraftRotation, Names, type OnCallDraft } from './draft.ts';
import { onDays, openZone, toLayer, toMinutes } from './draft-layer.ts';

const periods = new Map([
  ['hourly', hourMs],
  ['daily', dayMs],
  ['weekly', 7 * dayMs],
]);

/** Lists of the API with the members to download. GoAlert sends at most 149 entries of a list at once. */
const lists = {
  users: 'id name email',
  rotations: 'id name timeZone type shiftLength start activeUserIndex userIDs',
  schedules: 'id name timeZone targets { target { id type name } rules { start end weekdayFilter } }',
  escalationPolicies: 'id name repeat steps { delayMinutes targets { id type name } }',
  userOverrides: 'start end addUserID target { id }',
};

/** Query in one line. A GoAlert key is created for the exact text of one query, so all pages use the same text. */
const query = `query(${Object.keys(lists).map((list) => `$${list}: String`)}) { ${Object.entries(lists)
  .map(
    ([list, members]) =>
      `${list}(input: {first: 100, after: $${list}}) { nodes { ${members} } pageInfo { hasNextPage endCursor } }`,
  )
  .join(' ')} }`;

/** Explains how to create a key. */
export const goAlertKeyAdvice = `create a GraphQL API key in GoAlert for this query: ${query}`;

/** Downloads users, rotations, schedules, policies and overrides. A request reads a page of each list. */
export const downloadGoAlert = async ({ post }: Download): Promise<object> => {
  const data = Object.fromEntries(Object.keys(lists).map((list) => [list, { nodes: [] as unknown[] }]));
  const variables: Record<string, string | undefined> = {};
  for (let isMore = true; isMore; ) {
    isMore = false;
    const response = new Entry(await post('/api/graphql', { query, variables }), 'response');
    const [problem] = response.list('errors');
    if (problem) throw refuseQuery(problem.find('message') ?? 'no reason was given');
    for (const [list, { nodes }] of Object.entries(data)) {
      const page = response.entry('data').entry(list);
      nodes.push(...page.values('nodes'));
      const info = page.entry('pageInfo');
      isMore ||= info.value('hasNextPage') === true;
      variables[list] = info.find('endCursor') ?? variables[list];
    }
  }
  return { data };
};

const refuseQuery = (reason: string): ImportError => {
  const advice = /wrong query/i.test(reason) ? `; ${goAlertKeyAdvice}` : '';
  return new ImportError(`the server refused the query: ${reason}${advice}`);
};

/** Reads an export of GoAlert: the response to the query, or only its member `data`. */
export const readGoAlert = (given: Entry, now: Date): OnCallDraft => {
  const root = given.has('data') ? given.entry('data') : given;
  const draft: OnCallDraft = { people: [], rotations: [], policies: [], notes: [] };
  const listOf = (member: string): Entry[] => {
    if (!root.has(member)) return [];
    const list = root.entry(member);
    if (list.has('pageInfo') && list.entry('pageInfo').value('hasNextPage') === true)
      throw new ImportError(`the export has only the first page of ${member}: pass the URL of GoAlert instead`);
    return list.list('nodes');
  };
  for (const user of listOf('users')) {
    draft.people.push({ id: user.text('id'), name: user.text('name'), email: user.find('email') });
  }
  const isPerson = (id: string): boolean => draft.people.some((person) => person.id === id);
  const names = new Names();
  const rotations = new Map(listOf('rotations').map((rotation) => [rotation.text('id'), rotation]));
  /** Targets by the id of their rotation or schedule. */
  const targets = new Map<string, string[]>();
  const add = (label: string, read: () => Omit<DraftRotation, 'name' | 'overrides'>): DraftRotation[] => {
    try {
      const made = { ...read(), name: names.add(label), overrides: [] };
      draft.rotations.push(made);
      return [made];
    } catch (error) {
      if (!(error instanceof ImportError)) throw error;
      draft.notes.push(`rotation ${label}: ${error.message}`);
      return [];
    }
  };
  const toLayerOf = (rotation: Entry, spans?: ReturnType<typeof onDays>) => {
    const { timeZone, clock } = openZone(rotation.find('timeZone') ?? 'UTC');
    const ids = rotation.texts('userIDs');
    const stranger = ids.find((id) => !isPerson(id));
    if (stranger !== undefined) throw new ImportError(`${stranger} is not in the list of users`);
    const unit = periods.get(rotation.text('type'));
    if (unit === undefined) throw new ImportError(`type ${rotation.text('type')} is not supported`);
    const periodMs = unit * rotation.number('shiftLength', 1);
    const local = clock.toLocal(rotation.time('start'));
    // The person with the first turn follows from the person who is on call now.
    const turns = Math.max(0, Math.floor((clock.toLocal(now.getTime()) - local) / periodMs));
    const count = Math.max(1, ids.length);
    const first = (((rotation.number('activeUserIndex', 0) - turns) % count) + count) % count;
    const people = [...ids.slice(first), ...ids.slice(0, first)];
    return { timeZone, layers: [toLayer({ people, periodMs, local, clock, ...(spans && { spans }) })] };
  };
  for (const [id, rotation] of rotations) {
    targets.set(
      id,
      add(rotation.text('name'), () => toLayerOf(rotation)).map(({ name }) => `rotation:${name}`),
    );
  }
  for (const schedule of listOf('schedules')) {
    const made = schedule.list('targets').flatMap((each) => {
      const target = each.entry('target');
      const id = target.text('id');
      return add(`${schedule.text('name')} ${target.find('name') ?? ''}`, () => {
        const spans = each.list('rules').flatMap(readRule);
        const rotation = rotations.get(id);
        if (rotation) return { ...toLayerOf(rotation, spans), ...zoneOf(schedule, rotation) };
        if (!isPerson(id)) throw new ImportError(`a target of type ${target.find('type')} cannot be on call`);
        const { timeZone, clock } = openZone(schedule.find('timeZone') ?? 'UTC');
        const local = Date.UTC(2026, 0, 5);
        return { timeZone, layers: [toLayer({ people: [id], periodMs: 7 * dayMs, local, clock, spans })] };
      });
    });
    for (const override of listOf('userOverrides')) {
      const person = override.find('addUserID');
      if (!override.has('target') || override.entry('target').find('id') !== schedule.text('id')) continue;
      const [own, ...others] = made;
      if (person === undefined || !isPerson(person) || !own || others.length > 0) {
        draft.notes.push(`schedule ${schedule.text('name')}: an override that replaces nobody or has several targets`);
      } else own.overrides.push({ person, startsAt: override.time('start'), endsAt: override.time('end') });
    }
    targets.set(
      schedule.text('id'),
      made.map(({ name }) => `rotation:${name}`),
    );
  }
  addPolicies(draft, listOf('escalationPolicies'), {
    steps: 'steps',
    minutes: 'delayMinutes',
    repeat: 'repeat',
    findTargets: (id) => targets.get(id) ?? (isPerson(id) ? [`person:${id}`] : []),
    describeTarget: (target) => `${target.find('type')} ${target.find('name') ?? target.text('id')}`,
  });
  return draft;
};

/**
 * Returns the time zone of a schedule and its rotation. Both must have the same zone, because hours are in the zone of
 * the schedule, and handovers in that of the rotation.
 */
const zoneOf = (schedule: Entry, rotation: Entry): { timeZone?: string } => {
  const [own, other] = [schedule.find('timeZone'), rotation.find('timeZone')];
  if (own !== other) throw new ImportError('schedule and rotation have different time zones');
  return {};
};

const readRule = (rule: Entry) => {
  // The filter's first day is Sunday.
  const listed = rule.values('weekdayFilter').flatMap((isOn, index) => (isOn === true ? [(index + 6) % 7] : []));
  return onDays(listed, toMinutes(rule.text('start')), toMinutes(rule.text('end')));
};
