import { parseTime } from '../../../http/text-forms.ts';
import { findTimeZone, isCalendarDay, readOwnTimeZone, ZoneClock } from '../../../lib/time-zone.ts';
import { Handovers } from './handovers.ts';
import { parseHours } from './hours.ts';
import { Layer, type LayerMember, type Period } from './layer.ts';
import { createPlannedShifts, type PlannedShifts } from './planned-shifts.ts';
import { Rotation } from './rotation.ts';
import type { LayerSettings, RotationDefinition, RotationSettings } from './settings.ts';

/** Default date from which shifts are counted: a Monday. */
const defaultStart = '2026-01-05';

/** Earliest year for `from` and `until`. Handovers are computed for all years in between. */
const firstYear = 2020;
const lastYear = 2060;

/** Time zone of a rotation, with its clock. */
interface Zone {
  name: string;
  clock: ZoneClock;
}

/** Creates a rotation from an entry in the config file. Throws an Error that explains the problem. */
export const toRotation = (settings: RotationSettings): Rotation => {
  const { name, layers, members, handover, startsAt, ...others } = settings;
  if (layers) {
    const odd = Object.entries({ members, handover, startsAt }).find(([, value]) => value !== undefined);
    if (odd) throw new Error(`${odd[0]} and layers cannot be combined: remove ${odd[0]} or layers`);
    return toPeopleRotation(name, { layers, ...others });
  }
  if (!members || handover === undefined) throw new Error('set either layers, or members and handover');
  const { timeZone, holidays } = others;
  if (holidays) throw new Error('holidays can be used only with layers');
  const always = { startsAt: Number.NEGATIVE_INFINITY, endsAt: Number.POSITIVE_INFINITY };
  const layer = new Layer({
    ...always,
    members: members.map((member) => ({ name: member, ...always })),
    shifts: createDestinationShifts({ handover, timeZone, startsAt }),
    hours: undefined,
  });
  return new Rotation({ name, kind: 'destination', members, layers: [layer] });
};

/** Creates a rotation of people. Throws an Error that explains the problem. */
export const toPeopleRotation = (name: string, { timeZone, holidays = [], layers }: RotationDefinition): Rotation => {
  const zone = readZone(timeZone);
  const unknown = holidays.find((day) => !isCalendarDay(day));
  if (unknown !== undefined) throw new Error(`holidays must be dates that exist, not ${JSON.stringify(unknown)}`);
  const members = layers.flatMap(({ people }) => people.map(toPersonName));
  return new Rotation({
    name,
    kind: 'person',
    members: [...new Set(members)],
    layers: layers.map((layer, index) => {
      try {
        return toLayer(layer, zone, holidays);
      } catch (error) {
        const place = layers.length > 1 ? `layer ${index + 1}: ` : '';
        throw new Error(`${place}${(error as Error).message}`);
      }
    }),
  });
};

const toPersonName = (person: LayerSettings['people'][number]): string =>
  typeof person === 'string' ? person : person.name;

/** Creates the shifts of a rotation of destinations. Throws an Error that explains the problem. */
export const createDestinationShifts = ({
  handover,
  timeZone,
  startsAt = defaultStart,
}: {
  handover: string;
  timeZone?: string | undefined;
  startsAt?: string | undefined;
}): PlannedShifts => {
  const zone = readZone(timeZone);
  const start = readStart('startsAt', startsAt, zone);
  try {
    return new Handovers(handover, zone.clock, start);
  } catch (error) {
    throw new Error(`handover must be a cron expression such as "0 9 * * 1": ${(error as Error).message}`);
  }
};

const toLayer = (
  { people, handover, hours, ...bounds }: LayerSettings,
  zone: Zone,
  holidays: readonly string[],
): Layer => {
  if (people.length === 0) throw new Error('people is empty: name at least one user');
  const period = readPeriod(bounds, zone);
  const isFromStart = Number.isFinite(period.startsAt);
  const start = isFromStart ? period.startsAt : readStart('from', defaultStart, zone);
  return new Layer({
    ...period,
    members: people.map((person) => toMember(person, zone)),
    shifts: createPlannedShifts(handover, zone.clock, start, isFromStart),
    hours: hours === undefined ? undefined : parseLayerHours(hours, zone, holidays),
  });
};

const toMember = (person: LayerSettings['people'][number], zone: Zone): LayerMember =>
  typeof person === 'string'
    ? { name: person, ...readPeriod({}, zone) }
    : { name: person.name, ...readPeriod(person, zone) };

const parseLayerHours = (hours: string, { name }: Zone, holidays: readonly string[]) => {
  try {
    return parseHours(hours, name, holidays);
  } catch (error) {
    throw new Error(`hours: ${(error as Error).message}`);
  }
};

const readZone = (timeZone = readOwnTimeZone()): Zone => {
  const name = findTimeZone(timeZone);
  if (name !== undefined) return { name, clock: new ZoneClock(name) };
  throw new Error(`timeZone must be a name such as Europe/Berlin or UTC, not ${JSON.stringify(timeZone)}`);
};

const readPeriod = ({ from, until }: { from?: string; until?: string }, zone: Zone): Period => {
  const startsAt = from === undefined ? Number.NEGATIVE_INFINITY : readNear('from', from, zone);
  const endsAt = until === undefined ? Number.POSITIVE_INFINITY : readNear('until', until, zone);
  if (endsAt <= startsAt) throw new Error(`until must be after from, not ${JSON.stringify(until)}`);
  return { startsAt, endsAt };
};

const readNear = (member: string, text: string, zone: Zone): number => {
  const time = readStart(member, text, zone);
  const year = new Date(time).getUTCFullYear();
  if (year >= firstYear && year < lastYear) return time;
  throw new Error(`${member} must be in the years from ${firstYear} to ${lastYear}, not ${JSON.stringify(text)}`);
};

/** Parses a date in the rotation's zone, or a time. Returns Unix milliseconds. */
const readStart = (member: string, text: string, { clock }: Zone): number => {
  const isDate = /^\d{4}-\d\d-\d\d$/.test(text);
  const time = parseTime(isDate ? `${text}T00:00:00Z` : text);
  if (!Number.isNaN(time)) return isDate ? clock.toFirstTime(time) : time;
  throw new Error(`${member} must be a date or a time such as 2026-01-31T09:00:00Z, not ${JSON.stringify(text)}`);
};
