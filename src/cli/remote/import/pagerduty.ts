import { minuteMs } from '../../../lib/units.ts';
import { Entry, ImportError } from './documents.ts';
import type { Download } from './download.ts';
import { addPolicies, Names, type OnCallDraft } from './draft.ts';
import { findLayerProblem, onDays, openZone, toLayer, toMinutes, UselessLayer, type WeekSpan } from './draft-layer.ts';

const everyDay = [0, 1, 2, 3, 4, 5, 6];

/** Number of days for which overrides are downloaded. */
const overrideDays = 90;

/** Downloads the lists: `users`, `schedules` with their layers, `overrides` by schedule, and `escalation_policies`. */
export const downloadPagerDuty = async ({ get, now }: Download): Promise<object> => {
  const all = async (path: string, member: string): Promise<unknown[]> => {
    const found: unknown[] = [];
    for (let offset = 0, isMore = true; isMore; offset += 100) {
      const page = await get(`${path}?limit=100&offset=${offset}`);
      found.push(...new Entry(page, path).values(member));
      isMore = (page as { more?: unknown }).more === true;
    }
    return found;
  };
  const range = `since=${now.toISOString()}&until=${new Date(now.getTime() + overrideDays * 1440 * minuteMs).toISOString()}`;
  const schedules: unknown[] = [];
  const overrides: Record<string, unknown> = {};
  for (const listed of await all('/schedules', 'schedules')) {
    const id = encodeURIComponent(new Entry(listed, 'schedules').text('id'));
    schedules.push(((await get(`/schedules/${id}`)) as { schedule?: unknown }).schedule);
    overrides[id] = await get(`/schedules/${id}/overrides?${range}`);
  }
  const [users, policies] = [await all('/users', 'users'), await all('/escalation_policies', 'escalation_policies')];
  return { users, schedules, overrides, escalation_policies: policies };
};

/** Reads an export of PagerDuty. */
export const readPagerDuty = (root: Entry): OnCallDraft => {
  const draft: OnCallDraft = { people: [], rotations: [], policies: [], notes: [] };
  for (const user of root.list('users')) {
    draft.people.push({ id: user.text('id'), name: user.text('name'), email: user.find('email') });
  }
  const isPerson = (id: string): boolean => draft.people.some((person) => person.id === id);
  const names = new Names();
  const targets = new Map<string, string>();
  for (const schedule of root.list('schedules')) {
    const title = schedule.text('name');
    try {
      const { timeZone, clock } = openZone(schedule.text('time_zone'));
      // The API lists the highest layer first.
      const layers = schedule
        .list('schedule_layers')
        .toReversed()
        .flatMap((layer) => {
          const people = layer.list('users').map((each) => each.entry('user').text('id'));
          const stranger = people.find((id) => !isPerson(id));
          if (stranger !== undefined) throw new ImportError(`${stranger} is not in the list of users`);
          const spans = layer.list('restrictions').flatMap(readRestriction);
          try {
            return toLayer({
              people,
              periodMs: layer.number('rotation_turn_length_seconds') * 1000,
              local: clock.toLocal(layer.time('rotation_virtual_start')),
              clock,
              ...(spans.length > 0 && { spans }),
              until: layer.has('end') ? layer.time('end') : undefined,
            });
          } catch (error) {
            if (!(error instanceof UselessLayer)) throw error;
            draft.notes.push(`schedule ${title}: ${error.message}`);
            return [];
          }
        });
      const problem = findLayerProblem(layers);
      if (problem !== undefined) throw new ImportError(problem);
      const id = schedule.text('id');
      const own =
        root.has('overrides') && root.entry('overrides').has(id)
          ? root.entry('overrides').entry(id).list('overrides')
          : [];
      const overrides = own.flatMap((override) => {
        const person = override.entry('user').text('id');
        if (!isPerson(person))
          draft.notes.push(`schedule ${title}: an override by a person who is not in the list of users`);
        return isPerson(person) ? [{ person, startsAt: override.time('start'), endsAt: override.time('end') }] : [];
      });
      const name = names.add(title);
      draft.rotations.push({ name, timeZone, layers, overrides });
      targets.set(id, `rotation:${name}`);
    } catch (error) {
      if (!(error instanceof ImportError)) throw error;
      draft.notes.push(`schedule ${title}: ${error.message}`);
    }
  }
  addPolicies(draft, root.list('escalation_policies'), {
    steps: 'escalation_rules',
    minutes: 'escalation_delay_in_minutes',
    repeat: 'num_loops',
    findTargets: (id) => [targets.get(id) ?? (isPerson(id) ? `person:${id}` : [])].flat(),
    describeTarget: (target) => target.find('summary') ?? target.text('id'),
  });
  return draft;
};

const readRestriction = (restriction: Entry): WeekSpan[] => {
  const start = toMinutes(restriction.text('start_time_of_day'));
  const minutes = Math.round(restriction.number('duration_seconds') / 60);
  if (restriction.find('type') !== 'weekly_restriction') {
    return onDays(everyDay, start, start + 1).map((span) => ({ start: span.start, minutes }));
  }
  return [{ start: (restriction.number('start_day_of_week', 1) - 1) * 1440 + start, minutes }];
};
