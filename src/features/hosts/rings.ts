/** Ring of rows: `size` steps of `step` seconds. */
export interface RingShape {
  step: number;
  size: number;
}

/** History of a host: an hour, a day and 90 days. Each step is a multiple of the step before. */
export const rings: readonly [RingShape, RingShape, RingShape] = [
  { step: 10, size: 360 },
  { step: 60, size: 1440 },
  { step: 600, size: 12_960 },
];

/** Row of a ring. `time` is the Unix time at which its step begins. */
export interface RingRow {
  step: number;
  time: number;
  values: Float32Array;
}

/** Returns the ring with the step. */
export const findRing = (step: number): RingShape => rings.find((each) => each.step === step) ?? rings[0];

/** Returns the beginning of the step that contains a time. */
export const align = (time: number, step: number): number => time - (time % step);

/** Returns the place of the row of a step in its ring. */
export const toSlot = ({ step, size }: RingShape, time: number): number => (time / step) % size;
