import { intersect, type Layer, type Period } from './layer.ts';

/** Override applied to a rotation. */
export interface AppliedOverride extends Period {
  id: string;
  rotation: string;
  member: string;
}

/**
 * Period during which the member on call, or the gap, stays the same, and so does the layer or override responsible for
 * it.
 */
export interface Shift extends Period {
  /** User or destination. Undefined in a gap. */
  member: string | undefined;
  /** Index of the layer. Undefined in a gap and for an override. */
  layer: number | undefined;
  /** Id of the override that put the member on call. */
  override: string | undefined;
}

/** Kind of a rotation's members: users, or destinations as in version 1. */
export type MemberKind = 'person' | 'destination';

interface RotationParts {
  name: string;
  kind: MemberKind;
  /** All members in order, without duplicates. */
  members: readonly string[];
  /** Layers, lowest first. Higher layers cover lower layers. */
  layers: readonly Layer[];
  /** Overrides of this rotation, oldest first. Where overrides overlap, the last override applies. */
  overrides?: readonly AppliedOverride[];
  /** False for members that are skipped. */
  isKnown?(member: string): boolean;
}

/**
 * Maximum number of periods examined to find the end of a shift or the next member. Periods of overrides do not count.
 */
const mostPieces = 500;

/** Maximum number of shifts in a list. */
export const mostShifts = 5000;

/** Rotation: members who share on-call duty through layers and overrides. */
export class Rotation {
  readonly name: string;
  readonly kind: MemberKind;
  readonly members: readonly string[];
  readonly #layers: readonly Layer[];
  readonly #overrides: readonly AppliedOverride[];
  readonly #isKnown: (member: string) => boolean;
  /** Last result of `#pieceAt`. It is often needed again. */
  #last: Shift | undefined;

  constructor({ name, kind, members, layers, overrides = [], isKnown = () => true }: RotationParts) {
    this.name = name;
    this.kind = kind;
    this.members = members;
    this.#layers = layers;
    this.#overrides = overrides;
    this.#isKnown = isKnown;
  }

  /** Returns this rotation with other overrides. Overrides of other rotations and unknown members are skipped. */
  with(overrides: readonly AppliedOverride[], isKnown?: (member: string) => boolean): Rotation {
    const { name, kind, members } = this;
    return new Rotation({
      name,
      kind,
      members,
      layers: this.#layers,
      overrides: overrides.filter(({ rotation, member }) => rotation === name && isKnown?.(member) !== false),
      ...(isKnown && { isKnown }),
    });
  }

  /** Returns the member on call at a time (Unix milliseconds). Undefined in a gap. */
  memberAt(at: number): string | undefined {
    return this.#pieceAt(at).member;
  }

  /** Returns the first time after `at` at which another member may be on call. Undefined if unknown. */
  nextChangeAfter(at: number): number | undefined {
    const { endsAt } = this.#pieceAt(at);
    return Number.isFinite(endsAt) ? endsAt : undefined;
  }

  /** Returns the shift or gap at a time. Each override, and each layer's part, counts as a separate shift. */
  shiftAt(at: number): Shift {
    const shift = { ...this.#pieceAt(at) };
    const isSame = ({ member, layer, override }: Shift) =>
      member === shift.member && layer === shift.layer && override === shift.override;
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

  /** Returns the next shift of another member after `at`. Undefined if there is none. */
  nextShiftAfter(at: number): Shift | undefined {
    const present = this.memberAt(at);
    return this.#findShiftAfter(at, ({ member }) => member !== present && member !== undefined);
  }

  /**
   * Returns the time at which the member on call at `at` goes off call. In a gap, returns the end of the gap. Undefined
   * if unknown.
   */
  nextMemberChangeAfter(at: number): number | undefined {
    const present = this.memberAt(at);
    return this.#findShiftAfter(at, ({ member }) => member !== present)?.startsAt;
  }

  /**
   * Returns the time since which the member on call at `at` has been on call. In a gap, returns the start of the gap.
   * -Infinity if unknown.
   */
  memberSince(at: number): number {
    let { startsAt, member } = this.shiftAt(at);
    for (let left = this.#mostPieces; left > 0 && Number.isFinite(startsAt); left -= 1) {
      const before = this.shiftAt(startsAt - 1);
      if (before.member !== member) break;
      ({ startsAt, member } = before);
    }
    return startsAt;
  }

  /** Lists up to `most` shifts and gaps between two times. The first and the last entry are listed in full. */
  listShifts(from: number, to: number, most: number): Shift[] {
    const shifts: Shift[] = [];
    for (let at = from; at < to && shifts.length < most; ) {
      const shift = this.shiftAt(at);
      shifts.push(shift);
      at = shift.endsAt;
    }
    return shifts;
  }

  /** Returns the members on call between two times, without duplicates. Undefined stands for a gap. */
  listMembers(from: number, to: number): (string | undefined)[] {
    return [...new Set(this.listShifts(from, to, mostShifts).map(({ member }) => member))];
  }

  /** Returns the planned start of the shift at a time, ignoring overrides. */
  plannedStartAt(at: number): number {
    return this.#shiftWithoutOverrides(at).startsAt;
  }

  /** Returns the first gap between two times. Undefined if somebody is always on call. */
  findGap(from: number, to: number): Period | undefined {
    for (let at = from; at < to; at = this.#pieceAt(at).endsAt) {
      if (this.#pieceAt(at).member === undefined) return this.shiftAt(at);
    }
    return undefined;
  }

  #findShiftAfter(at: number, isWanted: (shift: Shift) => boolean): Shift | undefined {
    let { endsAt } = this.shiftAt(at);
    for (let left = this.#mostPieces; left > 0 && Number.isFinite(endsAt); left -= 1) {
      const shift = this.shiftAt(endsAt);
      if (isWanted(shift)) return shift;
      endsAt = shift.endsAt;
    }
    return undefined;
  }

  /** Number of pieces within which every member has had a shift and every override has begun and ended. */
  get #mostPieces(): number {
    return mostPieces + 2 * this.#overrides.length;
  }

  /** Returns the period around `at` during which no override begins or ends and no other member takes over. */
  #pieceAt(at: number): Shift {
    if (!this.#last || at < this.#last.startsAt || at >= this.#last.endsAt) this.#last = this.#findPiece(at);
    return this.#last;
  }

  #findPiece(at: number): Shift {
    const override = this.#overrides.findLast(({ startsAt, endsAt }) => startsAt <= at && at < endsAt);
    const shift = override
      ? { member: override.member, layer: undefined, override: override.id, ...always }
      : this.#shiftWithoutOverrides(at);
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
    let period: Period = always;
    for (let layer = this.#layers.length - 1; layer >= 0; layer -= 1) {
      const { member, ...piece } = (this.#layers[layer] as Layer).pieceAt(at, this.#isKnown);
      period = intersect(period, piece);
      if (member !== undefined) return { member, layer, override: undefined, ...period };
    }
    return { member: undefined, layer: undefined, override: undefined, ...period };
  }
}

const always: Period = { startsAt: Number.NEGATIVE_INFINITY, endsAt: Number.POSITIVE_INFINITY };
