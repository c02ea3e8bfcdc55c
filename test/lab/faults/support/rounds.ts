import { isLong } from '../../../support/long.ts';

const { SIGNALBOX_FAULT_ROUNDS: asked, CI } = process.env;

/** True in CI, where everything is installed, so that no test is skipped. */
export const isCi = CI === 'true';

/** Returns `short` in `npm test` and `long` in `npm run faults`. SIGNALBOX_FAULT_ROUNDS overrides both. */
export const rounds = (short: number, long: number): number => {
  if (asked) return Number(asked);
  return isLong ? long : short;
};
