const { SIGNALBOX_FAULTS: form, SIGNALBOX_FAULT_ROUNDS: asked, CI } = process.env;

/** Where everything is installed: nothing is skipped. */
export const isCi = CI === 'true';

/** Whether the long form runs: `npm run faults`. */
export const isLong = form === 'long';

/** How many rounds a test runs: in `npm test`, in `npm run faults`, in CI. SIGNALBOX_FAULT_ROUNDS overrules all. */
export const rounds = (short: number, long: number, ci = short): number => {
  if (asked) return Number(asked);
  if (isLong) return long;
  return isCi ? ci : short;
};
