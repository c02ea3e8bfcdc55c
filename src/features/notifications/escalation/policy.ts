import Type, { type Static } from 'typebox';
import type { EscalationPlace } from '../../../kit/incident.ts';
import { splitTarget } from '../../../kit/people.ts';
import { parseDuration } from '../../../lib/duration.ts';
import { dayMs } from '../../../lib/units.ts';
import { destinationNamePattern } from '../settings.ts';

/** Value of `then` that ends a policy. Nobody else is notified. */
export const stop = 'stop';

const defaultWait = '5 minutes';
const longestWaitMs = 7 * dayMs;

const EscalationPolicyStep = Type.Object(
  {
    notify: Type.Array(
      Type.String({ pattern: '^(?:rotation|person|destination):.', maxLength: 200, examples: ['rotation:ops'] }),
      {
        minItems: 1,
        maxItems: 20,
        uniqueItems: true,
        description: '`rotation:NAME`: the person or destination on call; `person:NAME`; `destination:NAME`.',
      },
    ),
    wait: Type.Optional(
      Type.String({
        maxLength: 20,
        examples: ['5 minutes'],
        description: `Time until the next step, in seconds, minutes or hours; ${defaultWait} by default.`,
      }),
    ),
  },
  { additionalProperties: false },
);

/** Entry in the setting `escalationPolicies`. Waits and names are checked later, with errors that name the policy. */
export const EscalationPolicySettings = Type.Object(
  {
    name: Type.String({
      pattern: destinationNamePattern,
      examples: ['standard'],
      description: 'Up to 64 letters, digits, `_` and `-`.',
    }),
    steps: Type.Array(EscalationPolicyStep, {
      minItems: 1,
      maxItems: 20,
      description: 'Steps, taken in order until somebody acknowledges the incident.',
    }),
    repeat: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100,
        examples: [3],
        description: 'Number of times that all steps are repeated; 0 by default.',
      }),
    ),
    then: Type.Optional(
      Type.String({
        maxLength: 64,
        examples: [stop],
        description: `Policy that follows after all steps, or \`${stop}\`, the default.`,
      }),
    ),
  },
  { additionalProperties: false },
);
export type EscalationPolicySettings = Static<typeof EscalationPolicySettings>;

/** Escalation policy in the form used by the engine. */
export interface EscalationPolicy {
  name: string;
  steps: readonly { notify: readonly string[]; waitMs: number }[];
  repeat: number;
  /** Name of the policy that follows. Undefined if there is none. */
  next: string | undefined;
}

/** Converts the settings of a policy. Throws an Error that explains the problem. */
export const toPolicy = ({ name, steps, repeat = 0, then = stop }: EscalationPolicySettings): EscalationPolicy => ({
  name,
  steps: steps.map(({ notify, wait = defaultWait }) => ({ notify, waitMs: toWait(wait) })),
  repeat,
  next: then === stop ? undefined : then,
});

const toWait = (text: string): number => {
  const ms = parseDuration(text);
  if (ms !== undefined && ms > 0 && ms <= longestWaitMs) return ms;
  throw new Error(`wait must be a duration such as "90 seconds", "5 minutes" or "1 hour", not ${JSON.stringify(text)}`);
};

/** Names that policies can use. */
export interface PolicyNames {
  rotations: readonly string[];
  destinations: readonly string[];
  /** Names of users. Undefined while the users are unknown. */
  people: readonly string[] | undefined;
}

/** Returns the targets in the steps of a policy that do not exist. */
export const findUnknownTargets = (
  { steps }: { steps: readonly { notify: readonly string[] }[] },
  names: PolicyNames,
): string[] => {
  const known = { rotation: names.rotations, destination: names.destinations, person: names.people };
  const targets = [...new Set(steps.flatMap(({ notify }) => notify))];
  return targets.filter((target) => {
    const [kind, name] = splitTarget(target);
    return known[kind as keyof typeof known]?.includes(name) === false;
  });
};

/** Returns problems with policies that refer to each other, as clauses. `find` returns a policy by name. */
export const findChainProblem = (
  policy: EscalationPolicy,
  find: (name: string) => EscalationPolicy | undefined,
): string | undefined => {
  const names = [policy.name];
  for (let { next } = policy; next !== undefined; ) {
    if (names.includes(next)) return `then leads back to ${next}: ${[...names, next].join(' → ')}`;
    const found = find(next);
    if (!found) return `then names a policy that does not exist: ${JSON.stringify(next)}`;
    names.push(next);
    next = found.next;
  }
  return undefined;
};

/** Returns the next place, and the milliseconds to wait before moving on from the given place. Undefined at the end. */
export const nextPlace = (
  { policy, round, step }: EscalationPlace,
  find: (name: string) => EscalationPolicy | undefined,
): { place: EscalationPlace; waitMs: number } | undefined => {
  const known = policy === null ? undefined : find(policy);
  if (!known) return undefined;
  const waitMs = step === 0 ? 0 : ((known.steps[step - 1] ?? known.steps.at(-1))?.waitMs ?? 0);
  if (step < known.steps.length) return { place: { policy, round, step: step + 1 }, waitMs };
  if (round < known.repeat) return { place: { policy, round: round + 1, step: 1 }, waitMs };
  if (known.next === undefined || !find(known.next)) return undefined;
  return { place: { policy: known.next, round: 0, step: 1 }, waitMs };
};
