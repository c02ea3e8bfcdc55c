import { bisect } from '../../../lib/bisect.ts';
import type { Hours } from './hours.ts';
import type { PlannedShifts } from './planned-shifts.ts';

/** Period in Unix milliseconds. The end is exclusive. It is infinite if unknown. */
export interface Period {
  startsAt: number;
  endsAt: number;
}

/** Member of a layer, from joining until leaving. */
export interface LayerMember extends Period {
  name: string;
}

/** Period during which one member of the layer, or nobody, is on call. */
interface LayerPiece extends Period {
  member: string | undefined;
}

interface LayerParts extends Period {
  members: readonly LayerMember[];
  shifts: PlannedShifts;
  hours: Hours | undefined;
}

/** Period during which nobody joins or leaves. */
interface Epoch extends Period {
  /** Indexes of the members who are present, in order. */
  present: readonly number[];
  /** Number of a shift, and index in `present` of the member whose shift it is. */
  shift: number;
  place: number;
  /** Index of the member who had the last shift. Used while nobody is present. */
  last: number;
}

/**
 * Layer of a rotation. At each handover, the next present member goes on call. The next member also takes over if the
 * member on call leaves. A member who joins waits for the next handover, unless nobody is on call.
 */
export class Layer {
  readonly #parts: LayerParts;
  readonly #epochs: readonly Epoch[];

  constructor(parts: LayerParts) {
    this.#parts = parts;
    this.#epochs = toEpochs(parts);
  }

  /**
   * Returns the member of this layer who is on call at a time, and the surrounding period during which that member
   * stays on call. Shifts of members for whom `isKnown` is false pass to the next member.
   */
  pieceAt(at: number, isKnown: (name: string) => boolean): LayerPiece {
    const { startsAt, endsAt, hours } = this.#parts;
    if (at < startsAt) return { member: undefined, startsAt: Number.NEGATIVE_INFINITY, endsAt: startsAt };
    if (at >= endsAt) return { member: undefined, startsAt: endsAt, endsAt: Number.POSITIVE_INFINITY };
    const piece = this.#shiftAt(at, isKnown);
    if (!hours || piece.member === undefined) return piece;
    const span = hours.spanAt(at);
    if (!span.isWithin) return { member: undefined, ...intersect({ startsAt, endsAt }, span) };
    return { ...piece, ...intersect(piece, span) };
  }

  #shiftAt(at: number, isKnown: (name: string) => boolean): LayerPiece {
    const { members, shifts } = this.#parts;
    const epoch = this.#epochs[bisect(this.#epochs, ({ startsAt }) => startsAt <= at) - 1] as Epoch;
    const { startsAt, endsAt, present } = epoch;
    const names = present.map((index) => members[index]?.name ?? '').filter(isKnown);
    const [only] = names;
    // With a single member, handovers do not end shifts.
    if (names.every((name) => name === only)) return { member: only, startsAt, endsAt };
    const number = shifts.numberAt(at);
    const shift = {
      startsAt: shifts.timeOf(number) ?? Number.NEGATIVE_INFINITY,
      endsAt: shifts.timeOf(number + 1) ?? Number.POSITIVE_INFINITY,
    };
    const place = toPlace(epoch, number);
    const order = [...present.slice(place), ...present.slice(0, place)].map((index) => members[index]?.name ?? '');
    return { member: order.find(isKnown), ...intersect(epoch, shift) };
  }
}

/** Returns the intersection of two periods. */
export const intersect = (one: Period, other: Period): Period => ({
  startsAt: Math.max(one.startsAt, other.startsAt),
  endsAt: Math.min(one.endsAt, other.endsAt),
});

const toEpochs = ({ startsAt, endsAt, members, shifts }: LayerParts): Epoch[] => {
  const edges = members.flatMap((member) => [member.startsAt, member.endsAt]);
  const inside = edges.filter((edge) => edge > startsAt && edge < endsAt);
  const starts = [startsAt, ...new Set(inside.sort((one, other) => one - other))];
  const epochs: Epoch[] = [];
  for (const [index, start] of starts.entries()) {
    const present = members.flatMap((member, at) => (member.startsAt <= start && start < member.endsAt ? [at] : []));
    const before = epochs.at(-1);
    const counted = before ? follow(before, present, start, shifts) : { shift: 0, place: 0, last: -1 };
    epochs.push({ startsAt: start, endsAt: starts[index + 1] ?? endsAt, present, ...counted });
  }
  return epochs;
};

/** Continues the order of an epoch in the next epoch. The next epoch begins at `start`. */
const follow = (before: Epoch, present: readonly number[], start: number, shifts: PlannedShifts) => {
  const [shift, shiftBefore] = [shifts.numberAt(start), shifts.numberAt(start - 1)];
  const isOn = before.present.length > 0;
  const last = isOn ? (before.present[toPlace(before, shiftBefore)] ?? -1) : before.last;
  const staying = isOn && shift === shiftBefore ? present.indexOf(last) : -1;
  const next = present.findIndex((index) => index > last);
  return { shift, place: staying >= 0 ? staying : Math.max(0, next), last };
};

const toPlace = ({ present: { length }, shift, place }: Epoch, number: number): number => {
  const index = (place + number - shift) % length;
  return index < 0 ? index + length : index;
};
