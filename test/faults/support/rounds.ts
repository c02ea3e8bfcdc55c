import { isLong } from '../../support/long.ts';

const { SIGNALBOX_FAULT_ROUNDS: asked, CI } = process.env;

/** True in CI, which installs everything, so that no test is skipped. */
export const isCi = CI === 'true';

/** Returns the number of rounds in `npm test` and in `npm run faults`. SIGNALBOX_FAULT_ROUNDS overrides both. */
export const rounds = (short: number, long: number): number => {
  if (asked) return Number(asked);
  return isLong ? long : short;
};
