import { isLong } from '../../support/long.ts';

const { SIGNALBOX_FAULT_ROUNDS: asked, CI } = process.env;

/** CI installs everything, so nothing is skipped there. */
export const isCi = CI === 'true';

/** The number of rounds in `npm test` and in `npm run faults`. SIGNALBOX_FAULT_ROUNDS overrides both. */
export const rounds = (short: number, long: number): number => {
  if (asked) return Number(asked);
  return isLong ? long : short;
};
