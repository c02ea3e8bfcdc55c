/** True if tests take their long forms, as in `npm run faults`: more kills, more requests, more random cases. */
export const isLong = process.env['SIGNALBOX_TEST_LONG'] === '1';

/** How much of something a test does: usually, and in its long form. */
export const amount = (usual: number, long: number): number => (isLong ? long : usual);
