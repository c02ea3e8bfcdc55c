import type { SharedIncident } from '../../../kit/incident.ts';
import type { EscalationStep } from '../../../kit/incident-source.ts';
import type { DestinationTarget } from '../destinations/target.ts';
import type { People } from '../people/people.ts';
import { findNextStep, type NextStep, placeOf } from './next-step.ts';
import { findUnknownTargets, type PolicyNames, splitTarget } from './policy.ts';
import type { PolicyKeeper } from './policy-kind.ts';
import { type RoutingKeeper, routingName } from './routing-kind.ts';

interface EscalationParts {
  policies: Pick<PolicyKeeper, 'find' | 'list' | 'onChanged'>;
  routing: Pick<RoutingKeeper, 'find' | 'onChanged'>;
  rotations: { list(): readonly { name: string }[]; onCallAt(rotation: string, at: number): string[] };
  /** Returns the names of destinations that get incidents, without ways. */
  listDestinations(): readonly string[];
  people: Pick<People, 'listUsers' | 'listReachable'>;
  /** True once the stored policies and ways have been read. */
  isRead(): boolean;
}

/** Escalation policies and their routing, applied to incidents. */
export class Escalations {
  readonly #parts: EscalationParts;
  /** Destinations that policies name, or undefined after a change. */
  #named: ReadonlySet<string> | undefined;
  /** Targets that can be notified, or undefined after a change. */
  #reachable: ReadonlySet<string> | undefined;

  constructor(parts: EscalationParts) {
    this.#parts = parts;
    parts.policies.onChanged(() => {
      this.#named = undefined;
    });
  }

  /** False while a database with policies and ways has not been read: their steps would reach nobody. */
  get isReady(): boolean {
    return this.#parts.isRead();
  }

  /** Rereads users, ways and destinations. */
  reset(): void {
    this.#reachable = undefined;
  }

  /** Returns the next step of an incident; undefined if none follows. Times are Unix milliseconds. */
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

  /** Returns the event that records the policy of an incident before its first step; undefined if it is recorded. */
  decide(incident: SharedIncident, now: number): EscalationStep | undefined {
    const next = this.next(incident, now);
    if (!next || next.after !== null) return undefined;
    const { opening, after, place } = next;
    return { opening, after, place: { policy: place.policy, round: 0, step: 0 }, targets: [] };
  }

  /** Returns the policy that an incident follows, or is about to follow; null without one. */
  policyOf(incident: SharedIncident, now: number): string | null {
    const place = placeOf(incident);
    if (place) return place.policy;
    return incident.state === 'open' && !incident.isOld ? (this.#route(incident, now) ?? null) : null;
  }

  /** True if the first step of an incident's policy is still to be taken. */
  isStarting(incident: SharedIncident, now: number): boolean {
    if (incident.state !== 'open' || this.policyOf(incident, now) === null) return false;
    return (placeOf(incident)?.step ?? 0) === 0;
  }

  /** True if only steps and requests notify the destination of the incident, not its own rules. */
  governs(incident: SharedIncident, { settings: { name }, way }: DestinationTarget, now: number): boolean {
    if (way) return this.policyOf(incident, now) !== null || !this.isOnCall(way.person, now);
    return this.#names.has(name) && this.policyOf(incident, now) !== null;
  }

  /** True if a person is on call in any rotation. */
  isOnCall(person: string, at: number): boolean {
    const { rotations } = this.#parts;
    const target = `person:${person}`;
    return rotations.list().some(({ name }) => rotations.onCallAt(name, at).includes(target));
  }

  /** Returns names that policies can use. */
  listNames(): PolicyNames {
    const { rotations, listDestinations, people } = this.#parts;
    return {
      rotations: rotations.list().map(({ name }) => name),
      destinations: listDestinations(),
      people: people.listUsers()?.map(({ name }) => name),
    };
  }

  /** Number of policies that name something that does not exist. */
  countBroken(): number {
    const names = this.listNames();
    return this.#parts.policies.list().filter((policy) => findUnknownTargets(policy, names).length > 0).length;
  }

  get #names(): ReadonlySet<string> {
    this.#named ??= new Set(
      this.#parts.policies
        .list()
        .flatMap(({ steps }) => steps.flatMap(({ notify }) => notify))
        .flatMap((target) => (target.startsWith('destination:') ? [splitTarget(target)[1]] : [])),
    );
    return this.#named;
  }

  /** Openings from before the first routing have no policy: their destinations have been notified by their own rules. */
  #route(incident: SharedIncident, now: number): string | null | undefined {
    const { policies, routing } = this.#parts;
    const known = routing.find(routingName);
    const startedAt = Math.max(incident.stateSince, incident.raisedAt ?? 0);
    if (known?.since === undefined || startedAt < known.since) return undefined;
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
      ...listDestinations().map((name) => `destination:${name}`),
      ...people.listReachable().map((name) => `person:${name}`),
    ]);
    return [...new Set(targets)].filter((target) => this.#reachable?.has(target));
  }
}
