import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { dayMs } from '../../../lib/units.ts';
import type { Asking, ListReply } from '../ask.ts';
import type { PlannedChange } from './changes.ts';
import type { DraftPerson, OnCallDraft } from './draft.ts';

/** Number of random bytes in an initial password. */
const passwordBytes = 15;

/** Maximum milliseconds from now to the start of an override. The server sets this limit. */
const farthestMs = 5 * 366 * dayMs;

/** Pattern for user names. */
const userName = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;

interface Present {
  users: { name: string }[];
  people: { name: string; ways: number }[];
  destinations: { settings: { type: string } }[];
  rotations: { name: string; origin: string; timeZone?: string; layers: object[]; holidays?: string[] }[];
  policies: { name: string; origin: string; steps: object[]; repeat: number }[];
  overrides: { rotation: string; member: string; startsAt: string; endsAt: string }[];
}

/** Reads everything on the server that a plan depends on. */
export const readPresent = async ({ ask }: Pick<Asking, 'ask'>): Promise<Present> => {
  const list = async <T>(path: string): Promise<T[]> => (await ask<ListReply<T>>(path)).data;
  return {
    users: await list('api/users'),
    people: await list('api/people'),
    destinations: await list('api/destinations'),
    rotations: await list('api/rotations'),
    policies: await list('api/escalation-policies'),
    overrides: await list('api/oncall/overrides'),
  };
};

/** Returns the changes needed to import the draft, in the order in which to apply them. */
export const planChanges = (draft: OnCallDraft, present: Present, now: Date): PlannedChange[] => {
  const names = nameUsers(draft.people, present.users);
  return [
    ...planUsers(draft.people, names, present),
    ...draft.rotations.flatMap((rotation) => planRotation(rotation, names, present, now)),
    ...draft.policies.map((policy) => planPolicy(policy, names, present)),
  ];
};

/**
 * Chooses a user name for each person: the mail address, the part before the `@`, or the name. Prefers names of
 * existing users.
 */
const nameUsers = (people: readonly DraftPerson[], users: readonly { name: string }[]): ReadonlyMap<string, string> => {
  const present = new Map(users.map(({ name }) => [name.toLowerCase(), name]));
  const taken = new Set<string>();
  const names = new Map<string, string>();
  for (const { id, name, email = '' } of people) {
    const plain = name
      .normalize('NFKD')
      .toLowerCase()
      .replaceAll(/[^a-z0-9._@-]+/g, '.');
    const wanted = [email, email.replace(/@.*$/s, ''), name, plain.replaceAll(/^[^a-z0-9]+|[.]+$/g, '').slice(0, 64)];
    const usable = wanted.filter((each) => userName.test(each) && !taken.has(each.toLowerCase()));
    const known = usable.find((each) => present.has(each.toLowerCase()));
    const short = usable.find((each) => !each.includes('@')) ?? usable[0];
    const chosen = (known && present.get(known.toLowerCase())) ?? short ?? `person-${names.size + 1}`;
    taken.add(chosen.toLowerCase());
    names.set(id, chosen);
  }
  return names;
};

const planUsers = (
  people: readonly DraftPerson[],
  names: ReadonlyMap<string, string>,
  { users, people: reached, destinations }: Present,
): PlannedChange[] => {
  const hasMail = destinations.some(({ settings }) => settings.type === 'email');
  return people.flatMap(({ id, name, email }) => {
    const user = names.get(id) ?? '';
    const detail = [...new Set([name, email ?? ''])].filter((each) => each !== '' && each !== user).join(' ');
    const isKnown = users.some((each) => each.name === user);
    const password = randomBytes(passwordBytes).toString('base64url');
    const change: PlannedChange = isKnown
      ? { action: 'unchanged', what: 'user', name: user, detail }
      : {
          action: 'create',
          what: 'user',
          name: user,
          detail,
          requests: [{ method: 'POST', path: 'api/users', body: { name: user, role: 'Reader', password } }],
          result: `Initial password of ${user}: ${password}`,
        };
    const hasWay = reached.some((each) => each.name === user && each.ways > 0);
    if (!email || hasWay) return [change];
    const path = `api/people/${encodeURIComponent(user)}/ways/mail`;
    const way = { what: 'contact method', name: `${user}/mail` } as const;
    // The pages for an address in an export must not go to an existing user who only has a similar name.
    if (isKnown && user !== email)
      return [change, { ...way, action: 'skip', detail: `${email}: ${user} must add this address` }];
    if (!hasMail)
      return [change, { ...way, action: 'skip', detail: 'no destination of type email provides a mail server' }];
    const request = { method: 'PUT', path, body: { type: 'email', to: [email] } } as const;
    return [change, { ...way, action: 'create', detail: email, requests: [request] }];
  });
};

const inConfig = 'defined in the config file; edit it there';

const planRotation = (
  { name, timeZone, layers: drafts, overrides }: OnCallDraft['rotations'][number],
  names: ReadonlyMap<string, string>,
  present: Present,
  now: Date,
): PlannedChange[] => {
  const layers = drafts.map((layer) => ({ ...layer, people: layer.people.map((id) => names.get(id) ?? id) }));
  const known = present.rotations.find((each) => each.name.toLowerCase() === name.toLowerCase());
  const people = [...new Set(layers.flatMap((layer) => layer.people))].join(', ');
  const what = 'rotation';
  const detail = `${layers.length === 1 ? '1 layer' : `${layers.length} layers`} in ${timeZone}: ${people}`;
  if (known && known.origin !== 'made') return [{ action: 'skip', what, name, detail: inConfig }];
  const isSame = known?.timeZone === timeZone && isDeepStrictEqual(known.layers, layers);
  const path = `api/rotations/${encodeURIComponent(name)}`;
  // The other program has no holidays.
  const holidays = known?.holidays && { holidays: known.holidays };
  const request = { method: 'PUT', path, body: { timeZone, layers, ...holidays } } as const;
  const change: PlannedChange = isSame
    ? { action: 'unchanged', what, name, detail }
    : { action: known ? 'replace' : 'create', what, name, detail, requests: [request] };
  const coming = overrides.filter(({ startsAt, endsAt }) => endsAt > now.getTime() && endsAt > startsAt);
  return [change, ...coming.map((override) => planOverride(name, override, names, present, now))];
};

const planOverride = (
  rotation: string,
  { person, ...times }: OnCallDraft['rotations'][number]['overrides'][number],
  names: ReadonlyMap<string, string>,
  present: Present,
  now: Date,
): PlannedChange => {
  const member = names.get(person) ?? person;
  const [startsAt, endsAt] = [times.startsAt, times.endsAt].map((time) => new Date(time).toISOString());
  const isKnown = present.overrides.some(
    (each) =>
      each.rotation === rotation &&
      each.member === member &&
      Date.parse(each.startsAt) === times.startsAt &&
      Date.parse(each.endsAt) === times.endsAt,
  );
  const change = { what: 'override', name: rotation, detail: `${member} from ${startsAt} until ${endsAt}` } as const;
  if (isKnown) return { ...change, action: 'unchanged' };
  if (times.startsAt - now.getTime() > farthestMs) {
    return { ...change, action: 'skip', detail: `${change.detail}, more than five years away` };
  }
  const body = { rotation, member, startsAt, endsAt, comment: 'imported' };
  return { ...change, action: 'create', requests: [{ method: 'POST', path: 'api/oncall/overrides', body }] };
};

const planPolicy = (
  { name, steps: drafts, repeat }: OnCallDraft['policies'][number],
  names: ReadonlyMap<string, string>,
  present: Present,
): PlannedChange => {
  const toTarget = (target: string): string =>
    target.startsWith('person:') ? `person:${names.get(target.slice('person:'.length)) ?? ''}` : target;
  const steps = drafts.map(({ notify, wait }) => ({ notify: notify.map(toTarget), wait }));
  const known = present.policies.find((each) => each.name.toLowerCase() === name.toLowerCase());
  const what = 'policy';
  const detail = steps.map(({ notify, wait }) => `${notify.join(', ')}, wait ${wait}`).join('; then ');
  if (known && known.origin !== 'made') return { action: 'skip', what, name, detail: inConfig };
  const isSame = known?.repeat === repeat && isDeepStrictEqual(known.steps, steps);
  if (isSame) return { action: 'unchanged', what, name, detail };
  const path = `api/escalation-policies/${encodeURIComponent(name)}`;
  return {
    action: known ? 'replace' : 'create',
    what,
    name,
    detail,
    requests: [{ method: 'PUT', path, body: { steps, repeat } }],
  };
};
