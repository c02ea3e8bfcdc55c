export interface FigureLimits {
  limit: number;
  /** Second limit. Its alerts have the level CRITICAL. */
  critical?: number | undefined;
  /** Figure at which the alert of the first limit ends. Default: 2 percent away from the limit, on its good side. */
  clear?: number | undefined;
  /** True if lower values are worse, as for free space or days left. */
  isLowBad: boolean;
  /** True if a value equal to the limit is still good, as for a maximum count. */
  isBeyond?: boolean;
}

/** Side of a limit. `near` is good, but too close to the limit to end an alert. */
type Side = 'good' | 'near' | 'bad';

/** Side of each limit on which a figure lies. */
interface Observation {
  limit: Side;
  critical: Side;
}

/** Default distance from the limit at which an alert ends, as a share of the limit. */
const clearShare = 0.02;

const compare = (figure: number, limit: number, clear: number, { isLowBad, isBeyond = false }: FigureLimits): Side => {
  const sign = isLowBad ? -1 : 1;
  if (isBeyond ? sign * figure > sign * limit : sign * figure >= sign * limit) return 'bad';
  return sign * figure <= sign * clear ? 'good' : 'near';
};

export const observe = (figure: number, limits: FigureLimits): Observation => {
  const { limit, critical, clear, isLowBad } = limits;
  const defaultClear = (value: number): number => value - (isLowBad ? -1 : 1) * Math.abs(value) * clearShare;
  return {
    limit: compare(figure, limit, clear ?? defaultClear(limit), limits),
    critical: critical === undefined ? 'good' : compare(figure, critical, defaultClear(critical), limits),
  };
};

export const observeFault = (isBad: boolean, isCritical = false): Observation => ({
  limit: isBad ? 'bad' : 'good',
  critical: isBad && isCritical ? 'bad' : 'good',
});

/** Limit whose alert is firing. */
export type Firing = 'limit' | 'critical' | undefined;

/** State of a condition. Times are milliseconds on a monotonic clock. */
export interface ConditionState {
  firing: Firing;
  /** Time since which each limit has been reached without interruption. Undefined for a limit that is not reached. */
  limitSince: number | undefined;
  criticalSince: number | undefined;
  /** Time since which checks have been failing. Undefined if the last check worked. */
  unknownSince: number | undefined;
  /** True if the failing checks have been reported. */
  isUnknownReported: boolean;
}

export type ConditionEvent = 'raised' | 'worsened' | 'eased' | 'cleared' | 'cannot check' | 'can check';

/** Creates the initial state of a condition, without readings. */
export const beginCondition = (firing?: Firing, isUnknownReported = false): ConditionState => ({
  firing,
  isUnknownReported,
  limitSince: undefined,
  criticalSince: undefined,
  unknownSince: undefined,
});

/**
 * Returns the state and the events after a check at the time `at`. An alert fires once its limit has been reached for
 * `forMs`. It ends as soon as the figure is good again. A failing check changes neither until checks have been failing
 * for `forMs`.
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
  const events: ConditionEvent[] = state.isUnknownReported ? [] : ['cannot check'];
  return { state: { ...beginCondition(state.firing, true), unknownSince }, events };
};

const stepKnown = (state: ConditionState, { limit, critical }: Observation, at: number, forMs: number) => {
  const limitSince = limit === 'bad' ? (state.limitSince ?? at) : undefined;
  const criticalSince = critical === 'bad' ? (state.criticalSince ?? at) : undefined;
  const holds = (since: number | undefined): boolean => since !== undefined && at - since >= forMs;
  const firing = holds(criticalSince) ? 'critical' : ease(state.firing, limit, critical, holds(limitSince));
  const events: ConditionEvent[] = state.isUnknownReported ? ['can check'] : [];
  const event = nameChange(state.firing, firing);
  if (event) events.push(event);
  return {
    state: { firing, limitSince, criticalSince, unknownSince: undefined, isUnknownReported: false },
    events,
  };
};

/** Returns the limit that fires until the second limit has been reached for long enough. */
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
