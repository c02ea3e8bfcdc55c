import type { SharedIncident } from '../../../kit/incident.ts';
import type { EscalationStep } from '../../../kit/incident-source.ts';
import { joinTarget, listNamesOf, splitTarget } from '../../../kit/people.ts';
import type { DestinationDefinition } from '../destinations/definition.ts';
import type { People } from '../people/people.ts';
import { findNextStep, type NextStep, placeOf } from './next-step.ts';
import { findUnknownTargets, type PolicyNames } from './policy.ts';
import type { PolicyKeeper } from './policy-kind.ts';
import { type RoutingKeeper, routingName } from './routing-kind.ts';

interface EscalationParts {
  policies: Pick<PolicyKeeper, 'find' | 'list' | 'onChanged'>;
  routing: Pick<RoutingKeeper, 'find' | 'onChanged'>;
  rotations: { list(): readonly { name: string }[]; onCallAt(rotation: string, at: number): string[] };
  /** Returns the names of destinations that get incidents. Does not include people's contact methods. */
  listDestinations(): readonly string[];
  people: Pick<People, 'listReachable'>;
  /** Returns names that policies can use. */
  listNames(): PolicyNames;
  /** Returns the time at which the config file's routing took effect, in Unix milliseconds. Undefined if unknown. */
  configuredSince(): number | undefined;
  /** True once the stored policies and contact methods have been read. */
  isRead(): boolean;
}

/** Escalation policies and their routing, applied to incidents. */
export class Escalations {
  readonly #parts: EscalationParts;
  /** Destinations named in policies. Undefined after a change, until recomputed. */
  #named: ReadonlySet<string> | undefined;
  /** Targets that can be notified. Undefined after a change, until recomputed. */
  #reachable: ReadonlySet<string> | undefined;

  constructor(parts: EscalationParts) {
    this.#parts = parts;
    parts.policies.onChanged(() => {
      this.#named = undefined;
    });
  }

  /**
   * False until policies and contact methods have been read from the database. Until then, steps would reach nobody.
   */
  get isReady(): boolean {
    return this.#parts.isRead();
  }

  /** Reads users, contact methods and destinations again. */
  reset(): void {
    this.#reachable = undefined;
  }

  /** Returns the next step for an incident. Undefined after the last step. Times are Unix milliseconds. */
  next(incident: SharedIncident, now: number): NextStep | undefined {
    return findNextStep(
      incident,
      {
        find: (name) => this.#parts.policies.find(name),
        route: (one) => this.#route(one, now),
        resolve: (notify, at) => this.#resolve(notify, at),
      },
      now,
    );
  }

  /**
   * Returns the event that records the policy of an incident before its first step. Undefined if the policy is already
   * recorded.
   */
  decide(incident: SharedIncident, now: number): EscalationStep | undefined {
    const next = this.next(incident, now);
    if (!next || next.after !== null) return undefined;
    const { opening, after, place } = next;
    return { opening, after, place: { policy: place.policy, round: 0, step: 0 }, targets: [] };
  }

  /** Returns the policy that an incident follows or will follow. Null if there is none. */
  policyOf(incident: SharedIncident, now: number): string | null {
    const place = placeOf(incident);
    if (place) return place.policy;
    return incident.state === 'open' && !incident.isOld ? (this.#route(incident, now) ?? null) : null;
  }

  /** True if the first step in the policy of an incident has not been taken yet. */
  isStarting(incident: SharedIncident, now: number): boolean {
    if (incident.state !== 'open' || this.policyOf(incident, now) === null) return false;
    return (placeOf(incident)?.step ?? 0) === 0;
  }

  /**
   * True if the destination is notified of the incident only by steps and requests. Its own rules then do not apply.
   */
  governs(incident: SharedIncident, { settings: { name }, way }: DestinationDefinition, now: number): boolean {
    if (way) return this.policyOf(incident, now) !== null || this.isNotOnCall(incident, way, now);
    return this.#names.has(name) && this.policyOf(incident, now) !== null;
  }

  /** True if the contact method belongs to a person whose shift has ended and who has not been notified by a policy. */
  isNotOnCall(incident: SharedIncident, { person }: { person: string }, now: number): boolean {
    return this.policyOf(incident, now) === null && !this.isOnCall(person, now);
  }

  /** True if a person is on call in at least one rotation. */
  isOnCall(person: string, at: number): boolean {
    const { rotations } = this.#parts;
    const target = joinTarget('person', person);
    return rotations.list().some(({ name }) => rotations.onCallAt(name, at).includes(target));
  }

  /** Counts the policies that refer to something that does not exist. */
  countBroken(): number {
    const names = this.#parts.listNames();
    return this.#parts.policies.list().filter((policy) => findUnknownTargets(policy, names).length > 0).length;
  }

  get #names(): ReadonlySet<string> {
    this.#named ??= new Set(
      this.#parts.policies
        .list()
        .flatMap(({ steps }) => steps.flatMap(({ notify }) => listNamesOf(notify, 'destination'))),
    );
    return this.#named;
  }

  /**
   * Returns the policy chosen by the routing. Undefined for an incident that opened before the first routing, because
   * its destinations were notified by their own rules.
   */
  #route(incident: SharedIncident, now: number): string | null | undefined {
    const { policies, routing, configuredSince } = this.#parts;
    const known = routing.find(routingName);
    const since = known?.isConfigured ? configuredSince() : known?.setting?.createdAt;
    const startedAt = Math.max(incident.stateSince, incident.raisedAt ?? 0);
    if (known === undefined || since === undefined || startedAt < since) return undefined;
    const policy = known.route(incident, now);
    return policy !== null && policies.find(policy) ? policy : null;
  }

  #resolve(notify: readonly string[], at: number): string[] {
    const targets = notify.flatMap((target) => {
      const [kind, name] = splitTarget(target);
      return kind === 'rotation' ? this.#parts.rotations.onCallAt(name, at) : [target];
    });
    const { listDestinations, people } = this.#parts;
    this.#reachable ??= new Set([
      ...listDestinations().map((name) => joinTarget('destination', name)),
      ...people.listReachable().map((name) => joinTarget('person', name)),
    ]);
    return [...new Set(targets)].filter((target) => this.#reachable?.has(target));
  }
}
