import type { Handovers } from './handovers.ts';
import { type RotationSettings, toHandovers } from './settings.ts';

/** Override applied to a rotation. */
export interface AppliedOverride {
  id: string;
  rotation: string;
  member: string;
  /** Unix milliseconds; end exclusive. */
  startsAt: number;
  endsAt: number;
}

/** Time a member is on call, until a handover or the start or end of an override. */
export interface Shift {
  member: string;
  /** Unix milliseconds; end exclusive, Infinity if unknown. */
  startsAt: number;
  endsAt: number;
  /** Id of the override that put the member on call. */
  override: string | undefined;
}

/** Destinations that share on-call duty, by handovers and overrides. */
export class Rotation {
  readonly name: string;
  readonly members: readonly string[];
  readonly #handovers: Handovers;
  #overrides: readonly AppliedOverride[] = [];
  /** Last result of `#pieceAt`, often needed again. */
  #known: Shift | undefined;

  constructor(settings: RotationSettings) {
    this.name = settings.name;
    this.members = settings.members;
    this.#handovers = toHandovers(settings);
  }

  /** Replaces the overrides; where overrides overlap, the last one counts. */
  setOverrides(overrides: readonly AppliedOverride[]): void {
    this.#overrides = overrides.filter(({ rotation }) => rotation === this.name);
    this.#known = undefined;
  }

  memberAt(at: number): string {
    return this.#pieceAt(at).member;
  }

  /** Returns the first time after `at` when another member may be on call; undefined if unknown. */
  nextChangeAfter(at: number): number | undefined {
    const { endsAt } = this.#pieceAt(at);
    return Number.isFinite(endsAt) ? endsAt : undefined;
  }

  /** Returns the shift at a time. Each override counts as a separate shift. */
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

  /** Returns the next shift of another member after `at`; undefined if there is none. */
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

  /** Lists up to `most` shifts between two times; the first and last are not cut off. */
  listShifts(from: number, to: number, most: number): Shift[] {
    const shifts: Shift[] = [];
    for (let at = from; at < to && shifts.length < most; ) {
      const shift = this.shiftAt(at);
      shifts.push(shift);
      at = shift.endsAt;
    }
    return shifts;
  }

  /** Number of pieces within which each member has a shift, and each override begins and ends. */
  get #mostPieces(): number {
    return this.members.length + 2 * this.#overrides.length + 1;
  }

  /** Returns the period around `at` in which no override begins or ends and no other member takes over. */
  #pieceAt(at: number): Shift {
    if (!this.#known || at < this.#known.startsAt || at >= this.#known.endsAt) this.#known = this.#findPiece(at);
    return this.#known;
  }

  #findPiece(at: number): Shift {
    const override = this.#overrides.findLast(({ startsAt, endsAt }) => startsAt <= at && at < endsAt);
    const shift = override ? { ...toEndless(override.member), override: override.id } : this.#shiftWithoutOverrides(at);
    for (const { startsAt, endsAt } of this.#overrides) {
      for (const edge of [startsAt, endsAt]) {
        if (edge <= at) shift.startsAt = Math.max(shift.startsAt, edge);
        else shift.endsAt = Math.min(shift.endsAt, edge);
      }
    }
    return shift;
  }

  /** Returns the shift at a time, ignoring overrides. */
  #shiftWithoutOverrides(at: number): Shift {
    const [only = ''] = this.members;
    // With a single member, handovers end no shift.
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
