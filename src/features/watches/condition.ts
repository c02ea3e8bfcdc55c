/** The limits of a figure. */
export interface FigureLimits {
  limit: number;
  /** A second limit, for a worse level. */
  critical?: number | undefined;
  /** The figure at which the first limit holds no longer; by default 2 percent on the good side. */
  clear?: number | undefined;
  /** Less is worse, as of free space and days that are left. */
  isLowBad: boolean;
  /** The limit itself is not bad yet: more than so many. */
  isBeyond?: boolean;
}

/** `bad`: the limit is reached. `near`: too close to it for what fires to end. */
type Side = 'good' | 'near' | 'bad';

/** What a check has found: where its figure is, seen from both limits. */
interface Observation {
  limit: Side;
  critical: Side;
}

/** Where the alert of a limit ends, unless the settings say. */
const nearShare = 0.02;

/** Seen from a limit and the figure at which it holds no longer. */
const compare = (figure: number, limit: number, clear: number, { isLowBad, isBeyond = false }: FigureLimits): Side => {
  const sign = isLowBad ? -1 : 1;
  if (isBeyond ? sign * figure > sign * limit : sign * figure >= sign * limit) return 'bad';
  return sign * figure <= sign * clear ? 'good' : 'near';
};

export const observe = (figure: number, limits: FigureLimits): Observation => {
  const { limit, critical, clear, isLowBad } = limits;
  const usualClear = (of: number): number => of - (isLowBad ? -1 : 1) * Math.abs(of) * nearShare;
  return {
    limit: compare(figure, limit, clear ?? usualClear(limit), limits),
    critical: critical === undefined ? 'good' : compare(figure, critical, usualClear(critical), limits),
  };
};

/** What a yes-or-no check has found. */
export const observeFault = (isBad: boolean): Observation => ({ limit: isBad ? 'bad' : 'good', critical: 'good' });

/** Which limit's alert fires. */
export type Firing = 'limit' | 'critical' | undefined;

/** What is known of a condition; times are those of a clock that nobody sets. */
export interface ConditionState {
  firing: Firing;
  /** Since when each limit is reached without a break; undefined while it is not. */
  limitSince: number | undefined;
  criticalSince: number | undefined;
  /** Since when it cannot be checked, and whether that was reported. */
  unknownSince: number | undefined;
  isUnknownTold: boolean;
}

export type ConditionEvent = 'raised' | 'worsened' | 'eased' | 'cleared' | 'cannot check' | 'can check';

/** A condition of which nothing is known but what of it fires. */
export const beginCondition = (firing?: Firing, isUnknownTold = false): ConditionState => ({
  firing,
  isUnknownTold,
  limitSince: undefined,
  criticalSince: undefined,
  unknownSince: undefined,
});

/**
 * The state after a check at `at`, and what has happened. A limit must be reached for `forMs` before its alert fires; what
 * fires ends at once. A check that fails says neither, so it begins nothing anew, unless checks fail for as long as that.
 */
export const stepCondition = (
  state: ConditionState,
  observation: Observation | undefined,
  at: number,
  forMs: number,
): { state: ConditionState; events: ConditionEvent[] } =>
  observation ? stepKnown(state, observation, at, forMs) : stepUnknown(state, at, forMs);

const stepUnknown = (state: ConditionState, at: number, forMs: number) => {
  const unknownSince = state.unknownSince ?? at;
  if (at - unknownSince < forMs) return { state: { ...state, unknownSince }, events: [] };
  const events: ConditionEvent[] = state.isUnknownTold ? [] : ['cannot check'];
  return { state: { ...beginCondition(state.firing, true), unknownSince }, events };
};

const stepKnown = (state: ConditionState, { limit, critical }: Observation, at: number, forMs: number) => {
  const limitSince = limit === 'bad' ? (state.limitSince ?? at) : undefined;
  const criticalSince = critical === 'bad' ? (state.criticalSince ?? at) : undefined;
  const holds = (since: number | undefined): boolean => since !== undefined && at - since >= forMs;
  const firing = holds(criticalSince) ? 'critical' : ease(state.firing, limit, critical, holds(limitSince));
  const events: ConditionEvent[] = state.isUnknownTold ? ['can check'] : [];
  const event = nameChange(state.firing, firing);
  if (event) events.push(event);
  return {
    state: { firing, limitSince, criticalSince, unknownSince: undefined, isUnknownTold: false },
    events,
  };
};

/** What fires unless the second limit is reached. */
const ease = (firing: Firing, limit: Side, critical: Side, holds: boolean): Firing => {
  if (firing === undefined) return holds ? 'limit' : undefined;
  if (limit === 'good') return undefined;
  return firing === 'critical' && critical === 'good' ? 'limit' : firing;
};

const nameChange = (before: Firing, now: Firing): ConditionEvent | undefined => {
  if (before === now) return undefined;
  if (before === undefined) return 'raised';
  if (now === undefined) return 'cleared';
  return now === 'critical' ? 'worsened' : 'eased';
};
