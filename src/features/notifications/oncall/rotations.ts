import Type, { type Static } from 'typebox';
import { parseTime } from '../../../http/text-forms.ts';
import { optionalText } from '../../../kit/route.ts';
import { findTimeZone, readOwnTimeZone, ZoneClock } from '../../../lib/time-zone.ts';
import { type DestinationSettings, destinationNamePattern } from '../settings.ts';
import { Handovers } from './handovers.ts';

/** A Monday. */
const usualStart = '2026-01-05';

/** An entry of the setting `rotations`. Members, cron expression and times are checked later, with errors that name the rotation. */
const RotationSettings = Type.Object(
  {
    name: Type.String({
      pattern: destinationNamePattern,
      description: 'Up to 64 letters, digits, `_` and `-`.',
    }),
    members: Type.Array(Type.String(), {
      minItems: 1,
      maxItems: 64,
      description: 'Names of destinations with `notify` `incidents`, in their order of duty.',
    }),
    handover: Type.String({
      maxLength: 200,
      description: 'When the next one takes over: a cron expression such as `0 9 * * 1`, at the most every hour.',
    }),
    timeZone: Type.Optional(Type.String({ description: 'Time zone of `handover`; that of the server by default.' })),
    startsAt: optionalText(
      `The first member's turn begins with the first handover from this date or time on; ${usualStart} by default.`,
    ),
  },
  { additionalProperties: false },
);
type RotationSettings = Static<typeof RotationSettings>;

/** The setting with its default. */
export const rotationSettings = {
  rotations: Type.Array(RotationSettings, {
    default: [],
    maxItems: 16,
    description:
      'Destinations of which one at a time is on duty: name, members, handover and more; see docs/guides/oncall.md.',
  }),
};

/** Somebody else on duty for some time. */
export interface AppliedOverride {
  id: string;
  rotation: string;
  member: string;
  /** Unix milliseconds; the end is excluded. */
  startsAt: number;
  endsAt: number;
}

/** The time from which one member is on duty until a handover or an override. */
export interface Shift {
  member: string;
  /** Unix milliseconds; the end is excluded. Infinite where nothing else is known to follow. */
  startsAt: number;
  endsAt: number;
  /** Id of the override that put the member there. */
  override: string | undefined;
}

/** Why rotations cannot be used, as clauses that name them. */
export const findRotationProblems = (settings: {
  rotations: readonly RotationSettings[];
  destinations: readonly DestinationSettings[];
}): string[] => {
  const { rotations, destinations } = settings;
  const names = rotations.map(({ name }) => name.toLowerCase());
  return rotations.flatMap((rotation, index) => {
    const problems = findMemberProblems(rotation, destinations);
    if (names.indexOf(rotation.name.toLowerCase()) !== index)
      problems.unshift('is there twice: give each another name');
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
    return [`its member ${JSON.stringify(member)} gets each alert; set notify of that destination to incidents`];
  });
};

/** Throws an Error whose message says what is wrong. */
const toHandovers = ({
  handover,
  timeZone = readOwnTimeZone(),
  startsAt = usualStart,
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

/** Destinations of which one at a time is on duty, by handovers and overrides. */
export class Rotation {
  readonly name: string;
  readonly members: readonly string[];
  readonly #handovers: Handovers;
  #overrides: readonly AppliedOverride[] = [];
  /** The last answer of `pieceAt`, which is often asked for again. */
  #known: Shift | undefined;

  constructor(settings: RotationSettings) {
    this.name = settings.name;
    this.members = settings.members;
    this.#handovers = toHandovers(settings);
  }

  /** Replaces the overrides; of those that overlap, the last one counts. */
  setOverrides(overrides: readonly AppliedOverride[]): void {
    this.#overrides = overrides.filter(({ rotation }) => rotation === this.name);
    this.#known = undefined;
  }

  memberAt(at: number): string {
    return this.#pieceAt(at).member;
  }

  /** The first time after `at` when somebody else may be on duty; undefined if none is known. */
  nextChangeAfter(at: number): number | undefined {
    const { endsAt } = this.#pieceAt(at);
    return Number.isFinite(endsAt) ? endsAt : undefined;
  }

  /** Who is on duty at a time, because of one override or none. */
  shiftAt(at: number): Shift {
    const shift = { ...this.#pieceAt(at) };
    const isSame = ({ member, override }: Shift) => member === shift.member && override === shift.override;
    for (let left = this.#mostPieces; left > 0 && Number.isFinite(shift.startsAt); left -= 1) {
      const piece = this.#pieceAt(shift.startsAt - 1);
      if (!isSame(piece)) break;
      shift.startsAt = piece.startsAt;
    }
    for (let left = this.#mostPieces; left > 0 && Number.isFinite(shift.endsAt); left -= 1) {
      const piece = this.#pieceAt(shift.endsAt);
      if (!isSame(piece)) return shift;
      shift.endsAt = piece.endsAt;
    }
    return shift;
  }

  /** The first shift of somebody else after `at`; undefined if nobody else follows. */
  nextShiftAfter(at: number): Shift | undefined {
    const { member, ...first } = this.shiftAt(at);
    let { endsAt } = first;
    for (let left = this.#mostPieces; left > 0 && Number.isFinite(endsAt); left -= 1) {
      const shift = this.shiftAt(endsAt);
      if (shift.member !== member) return shift;
      endsAt = shift.endsAt;
    }
    return undefined;
  }

  /** The shifts between two times, the first and the last one as a whole; at the most so many. */
  listShifts(from: number, to: number, most: number): Shift[] {
    const shifts: Shift[] = [];
    for (let at = from; at < to && shifts.length < most; ) {
      const shift = this.shiftAt(at);
      shifts.push(shift);
      at = shift.endsAt;
    }
    return shifts;
  }

  /** Within so many pieces, each member has a turn, and each override begins and ends. */
  get #mostPieces(): number {
    return this.members.length + 2 * this.#overrides.length + 1;
  }

  /** The time around `at` without beginning or end of an override, and without a handover that counts. */
  #pieceAt(at: number): Shift {
    if (!this.#known || at < this.#known.startsAt || at >= this.#known.endsAt) this.#known = this.#findPiece(at);
    return this.#known;
  }

  #findPiece(at: number): Shift {
    const override = this.#overrides.findLast(({ startsAt, endsAt }) => startsAt <= at && at < endsAt);
    const shift = override ? { ...toEndless(override.member), override: override.id } : this.#turnAt(at);
    for (const { startsAt, endsAt } of this.#overrides) {
      for (const edge of [startsAt, endsAt]) {
        if (edge <= at) shift.startsAt = Math.max(shift.startsAt, edge);
        else shift.endsAt = Math.min(shift.endsAt, edge);
      }
    }
    return shift;
  }

  /** Who would be on duty without overrides. */
  #turnAt(at: number): Shift {
    const [only = ''] = this.members;
    // Handovers to the same member are none: a shift does not end there, however many there are until an override.
    if (this.members.every((member) => member === only)) return toEndless(only);
    const number = this.#handovers.numberAt(at);
    const shift = toEndless(this.#memberOf(number));
    return {
      ...shift,
      startsAt: this.#handovers.timeOf(number) ?? shift.startsAt,
      endsAt: this.#handovers.timeOf(number + 1) ?? shift.endsAt,
    };
  }

  #memberOf(number: number): string {
    const count = this.members.length;
    return this.members[((number % count) + count) % count] ?? '';
  }
}

const toEndless = (member: string): Shift => ({
  member,
  startsAt: Number.NEGATIVE_INFINITY,
  endsAt: Number.POSITIVE_INFINITY,
  override: undefined,
});

/** All rotations: who is on duty. */
export class Rotations {
  #rotations: readonly Rotation[] = [];
  #members: ReadonlySet<string> = new Set();
  #overrides: readonly AppliedOverride[] = [];
  readonly #listeners: (() => void)[] = [];

  /** The settings must have no problems. */
  constructor(settings: readonly RotationSettings[]) {
    this.changeSettings(settings);
  }

  changeSettings(settings: readonly RotationSettings[]): void {
    this.#rotations = settings.map((each) => new Rotation(each));
    this.#members = new Set(settings.flatMap(({ members }) => members));
    this.setOverrides(this.#overrides);
  }

  /** Replaces the overrides, the oldest one first. Those of members and rotations that the settings have no longer do nothing. */
  setOverrides(overrides: readonly AppliedOverride[]): void {
    this.#overrides = overrides;
    const usable = overrides.filter(({ member }) => this.#members.has(member));
    for (const rotation of this.#rotations) rotation.setOverrides(usable);
    for (const listener of this.#listeners) listener();
  }

  /** Calls the listener when settings or overrides have changed, so that somebody else may be on duty. */
  onChanged(listener: () => void): void {
    this.#listeners.push(listener);
  }

  list(): readonly Rotation[] {
    return this.#rotations;
  }

  find(name: string): Rotation | undefined {
    return this.#rotations.find((rotation) => rotation.name === name);
  }

  /** Every member of any rotation: each can stand in for each. */
  get members(): ReadonlySet<string> {
    return this.#members;
  }

  /** Whether a destination may be used at a time, in Unix milliseconds: it is on duty, or in no rotation. */
  isOnDuty(destination: string, at: number): boolean {
    return !this.#members.has(destination) || this.#rotations.some((rotation) => rotation.memberAt(at) === destination);
  }

  /** The first time after `at` when `isOnDuty` may change; undefined if none is known. */
  nextHandoverAfter(at: number): number | undefined {
    const times = this.#rotations.flatMap((rotation) => rotation.nextChangeAfter(at) ?? []);
    return times.length > 0 ? Math.min(...times) : undefined;
  }
}
