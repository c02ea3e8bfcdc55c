import Type, { type Static } from 'typebox';
import { parseTime } from '../../../http/text-forms.ts';
import { optionalText } from '../../../kit/route.ts';
import { findTimeZone, readOwnTimeZone, ZoneClock } from '../../../lib/time-zone.ts';
import { type DestinationSettings, destinationNamePattern } from '../settings.ts';
import { Handovers } from './handovers.ts';

/** Default of `startsAt`, a Monday. */
const defaultStart = '2026-01-05';

/** Entry in the setting `rotations`. Members, cron and times are checked later, with errors that name the rotation. */
const RotationSettings = Type.Object(
  {
    name: Type.String({
      pattern: destinationNamePattern,
      description: 'Up to 64 letters, digits, `_` and `-`.',
    }),
    members: Type.Array(Type.String(), {
      minItems: 1,
      maxItems: 64,
      description: 'Names of destinations with `notify` `incidents`, in the order of their shifts.',
    }),
    handover: Type.String({
      maxLength: 200,
      description: 'When the next member goes on call: a cron expression such as `0 9 * * 1`, at most every hour.',
    }),
    timeZone: Type.Optional(
      Type.String({ description: 'Time zone of `handover`; by default, the time zone of the server.' }),
    ),
    startsAt: optionalText(
      `Date or time from which on the first handover begins the first member's shift; ${defaultStart} by default.`,
    ),
  },
  { additionalProperties: false },
);
export type RotationSettings = Static<typeof RotationSettings>;

/** Setting and its default. */
export const rotationSettings = {
  rotations: Type.Array(RotationSettings, {
    default: [],
    maxItems: 16,
    description: 'Destinations that take turns on call: name, members, handover and more; see docs/guides/oncall.md.',
  }),
};

/** Returns problems with rotations, as clauses that name them. */
export const findRotationProblems = (settings: {
  rotations: readonly RotationSettings[];
  destinations: readonly DestinationSettings[];
}): string[] => {
  const { rotations, destinations } = settings;
  const names = rotations.map(({ name }) => name.toLowerCase());
  return rotations.flatMap((rotation, index) => {
    const problems = findMemberProblems(rotation, destinations);
    if (names.indexOf(rotation.name.toLowerCase()) !== index) problems.unshift('exists twice: rename one of them');
    try {
      toHandovers(rotation);
    } catch (error) {
      problems.push((error as Error).message);
    }
    return problems.map((problem) => `rotation ${JSON.stringify(rotation.name)}: ${problem}`);
  });
};

const findMemberProblems = ({ members }: RotationSettings, destinations: readonly DestinationSettings[]): string[] => {
  const known = destinations.map(({ name }) => name).join(', ') || 'none';
  return [...new Set(members)].flatMap((member) => {
    const destination = destinations.find(({ name }) => name === member);
    if (!destination) {
      return [`there is no destination ${JSON.stringify(member)}; the settings have: ${known}`];
    }
    if (destination.notify === 'incidents') return [];
    return [`its member ${JSON.stringify(member)} gets each alert: set notify of that destination to incidents`];
  });
};

/** Creates a rotation's handovers. Throws an Error that explains the problem. */
export const toHandovers = ({
  handover,
  timeZone = readOwnTimeZone(),
  startsAt = defaultStart,
}: RotationSettings): Handovers => {
  const zone = findTimeZone(timeZone);
  if (zone === undefined) {
    throw new Error(`timeZone must be a name such as Europe/Berlin or UTC, not ${JSON.stringify(timeZone)}`);
  }
  const clock = new ZoneClock(zone);
  const isDate = /^\d{4}-\d\d-\d\d$/.test(startsAt);
  const start = parseTime(isDate ? `${startsAt}T00:00:00Z` : startsAt);
  if (Number.isNaN(start)) {
    throw new Error(`startsAt must be a date or a time such as 2026-01-31T09:00:00Z, not ${JSON.stringify(startsAt)}`);
  }
  try {
    return new Handovers(handover, clock, isDate ? clock.toFirstTime(start) : start);
  } catch (error) {
    throw new Error(`handover must be a cron expression such as "0 9 * * 1": ${(error as Error).message}`);
  }
};
