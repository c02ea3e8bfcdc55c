const { SIGNALBOX_TEST_LONG: form, SIGNALBOX_FAULT_ROUNDS: asked, CI } = process.env;

/** CI installs everything, so nothing is skipped there. */
export const isCi = CI === 'true';

/** Whether the long form runs: `npm run faults`. */
export const isLong = form === '1';

/** The number of rounds in `npm test`, in `npm run faults` and in CI. SIGNALBOX_FAULT_ROUNDS overrides all. */
export const rounds = (short: number, long: number, ci = short): number => {
  if (asked) return Number(asked);
  if (isLong) return long;
  return isCi ? ci : short;
};
