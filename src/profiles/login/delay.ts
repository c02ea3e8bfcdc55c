/** Seconds of the first delay; each further wrong login doubles it. */
const firstDelay = 10;

/** Seconds to wait after so many wrong logins of which `free` cost nothing; 0 free ones are no limit at all. */
export const toDelay = (wrong: number, free: number, longest: number): number =>
  free === 0 || wrong < free ? 0 : Math.min(longest, firstDelay * 2 ** (wrong - free));
