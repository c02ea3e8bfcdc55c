import Type from 'typebox';
import { splitTarget } from '../../../kit/people.ts';
import type { RotationSettings } from '../oncall/settings.ts';
import type { DestinationSettings } from '../settings.ts';
import {
  type EscalationPolicy,
  EscalationPolicySettings,
  findChainProblem,
  findUnknownTargets,
  stop,
  toPolicy,
} from './policy.ts';
import { derivedPolicy, mostPolicies } from './policy-kind.ts';
import { compileRouting, EscalationRoutingSettings, listRouted } from './routing.ts';

/** Settings of escalation, with their defaults. */
export const escalationSettings = {
  escalationPolicies: Type.Array(EscalationPolicySettings, {
    default: [],
    maxItems: mostPolicies,
    description: 'Escalation policies with `name`, `steps`, `repeat` and `then`; see docs/guides/oncall.md.',
  }),
  escalationRouting: Type.Optional({
    ...EscalationRoutingSettings,
    description: 'Escalation policy of each incident: rules and default; see docs/guides/oncall.md.',
  }),
};

interface CheckedSettings {
  escalationPolicies: readonly EscalationPolicySettings[];
  escalationRouting?: EscalationRoutingSettings | undefined;
  destinations: readonly DestinationSettings[];
  rotations: readonly Pick<RotationSettings, 'name'>[];
}

/**
 * Returns problems with policies and their routing, as clauses. Any name may belong to a user, because users can be
 * created later.
 */
export const findEscalationProblems = (settings: CheckedSettings): string[] => {
  const { escalationPolicies, escalationRouting, destinations, rotations } = settings;
  const names = {
    rotations: rotations.map(({ name }) => name),
    destinations: destinations.flatMap(({ name, notify }) => (notify === 'incidents' ? [name] : [])),
    people: undefined,
  };
  const known = new Map<string, EscalationPolicy>();
  const problems = escalationPolicies.flatMap((policy) => {
    const taken = [stop, derivedPolicy, ...known.keys()].map((name) => name.toLowerCase());
    const found: string[] = [];
    if (taken.includes(policy.name.toLowerCase())) found.push('the name is already in use: choose another name');
    try {
      known.set(policy.name, toPolicy(policy));
    } catch (error) {
      found.push((error as Error).message);
    }
    const unknown = findUnknownTargets(policy, names).map((target) => toUnknownTarget(target));
    return [...found, ...unknown].map((problem) => `escalation policy ${JSON.stringify(policy.name)}: ${problem}`);
  });
  const chains = [...known.values()].flatMap((policy) => {
    const problem = findChainProblem(policy, (name) => known.get(name));
    return problem === undefined ? [] : [`escalation policy ${JSON.stringify(policy.name)}: ${problem}`];
  });
  return [...problems, ...chains, ...findRoutingProblems(escalationRouting, [...known.keys()])];
};

/** Describes the problem with a target that does not exist, as a clause. */
export const toUnknownTarget = (target: string): string =>
  splitTarget(target)[0] === 'destination'
    ? `${target} does not exist or does not get incidents: create the destination, or set its notify to incidents`
    : `${target} does not exist: create the user or rotation first`;

/** Returns problems with the routing, as clauses. `policies` are the names of all policies. */
export const findRoutingProblems = (
  routing: EscalationRoutingSettings | undefined,
  policies: readonly string[],
): string[] => {
  if (!routing) return [];
  const unknown = listRouted(routing).filter((name) => !policies.includes(name));
  const problems = unknown.map((name) => `policy ${JSON.stringify(name)} does not exist`);
  try {
    compileRouting(routing);
  } catch (error) {
    problems.push((error as Error).message);
  }
  return problems.map((problem) => `escalation routing: ${problem}`);
};
