import type { EscalationPlace, SharedIncident } from '../../../kit/incident.ts';
import type { EscalationStep } from '../../../kit/incident-source.ts';
import { type EscalationPolicy, nextPlace } from './policy.ts';

/**
 * Maximum milliseconds by which a stored time may lie in the future. If it is further ahead, the clock was set back and
 * the stored time is meaningless.
 */
const clockSlackMs = 60_000;

/**
 * Maximum number of consecutive places without a reachable target. Limits the search, because two instances can store
 * policies that form a cycle.
 */
const mostSkipped = 1000;

/** Next step of an incident's escalation, with its time in Unix milliseconds. */
export interface NextStep extends EscalationStep {
  dueAt: number;
}

/** Policies and people, as needed to compute steps. */
interface StepSource {
  find(policy: string): EscalationPolicy | undefined;
  /**
   * Returns the policy that the routing chooses for the incident. Null for no policy, undefined if the routing does not
   * decide.
   */
  route(incident: SharedIncident): string | null | undefined;
  /** Returns the people and destinations that a step's names mean at a given time. */
  resolve(notify: readonly string[], at: number): string[];
}

/** Returns the place of the latest step in this opening. Null before the first step. */
export const placeOf = ({ escalation, openings }: SharedIncident): EscalationPlace | null => {
  if (escalation?.opening !== openings) return null;
  const { policy, round, step } = escalation;
  return { policy, round, step };
};

/**
 * Returns the next step for an open incident. Undefined after the last step. The step is computed from the stored
 * place, the policies and the time. Escalation therefore continues after a restart.
 */
export const findNextStep = (incident: SharedIncident, source: StepSource, now: number): NextStep | undefined => {
  if (incident.state !== 'open' || incident.isOld) return undefined;
  const { openings: opening, escalation } = incident;
  const after = placeOf(incident);
  const isLost = after !== null && after.policy !== null && !source.find(after.policy);
  if (after === null || isLost) {
    const policy = source.route(incident);
    if (policy === undefined && !isLost) return undefined;
    const start = { policy: policy ?? null, round: 0, step: 0 };
    const first = takeReachable(start, source, now);
    return { opening, after, dueAt: now, ...(first ?? { place: start, targets: [] }) };
  }
  const following = nextPlace(after, source.find);
  if (!following) return undefined;
  const { at } = escalation as { at: number };
  const dueAt = at > now + clockSlackMs ? now : at + following.waitMs;
  const next = takeReachable(after, source, Math.max(now, dueAt));
  return next && { opening, after, dueAt, ...next };
};

/**
 * Returns the first place after the given one with a step that reaches somebody. Undefined while nobody can be reached.
 * The policy continues when a shift begins. If no step of a policy reaches anybody, its remaining rounds are skipped.
 */
const takeReachable = (
  after: EscalationPlace,
  { find, resolve }: StepSource,
  at: number,
): Pick<EscalationStep, 'place' | 'targets'> | undefined => {
  let last = after;
  let empty = 0;
  for (let left = mostSkipped; left > 0; left -= 1) {
    const place = nextPlace(last, find)?.place;
    const policy = place && find(place.policy ?? '');
    if (!place || !policy) return undefined;
    const targets = resolve(policy.steps[place.step - 1]?.notify ?? [], at);
    if (targets.length > 0) return { place, targets };
    empty = place.policy === last.policy ? empty + 1 : 1;
    last = empty < policy.steps.length ? place : { ...place, round: policy.repeat, step: policy.steps.length };
  }
  return undefined;
};
