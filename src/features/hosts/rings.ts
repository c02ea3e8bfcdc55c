/** Ring of rows with `size` steps of `step` seconds. */
export interface RingShape {
  step: number;
  size: number;
}

/** Rings in the history of a host: an hour, a day and 90 days. Each step is a multiple of the step before. */
export const rings: readonly [RingShape, RingShape, RingShape] = [
  { step: 10, size: 360 },
  { step: 60, size: 1440 },
  { step: 600, size: 12_960 },
];

/** Row of a ring. `time` is the Unix time at which the step begins. */
export interface RingRow {
  step: number;
  time: number;
  values: Float32Array;
}

/** Finds the ring with the given step. */
export const findRing = (step: number): RingShape => rings.find((each) => each.step === step) ?? rings[0];

/** Returns the start of the step that contains a time. */
export const align = (time: number, step: number): number => time - (time % step);

/** True if the step of a row is recent enough for its ring. */
export const isInRing = ({ step, time }: Pick<RingRow, 'step' | 'time'>, now: number): boolean => {
  const last = align(now, step);
  return time > last - step * findRing(step).size && time <= last;
};

/** Returns the slot of a step's row in the ring. */
export const toSlot = ({ step, size }: RingShape, time: number): number => (time / step) % size;
