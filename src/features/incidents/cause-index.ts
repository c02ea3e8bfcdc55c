import { ownSender } from '../../kit/alert-record.ts';
import type { InhibitRule, SilenceStore } from '../../kit/silence-source.ts';
import type { StoredIncident } from './incident.ts';

/** Milliseconds between two removals of causes that no longer have an effect. */
const removalMs = 60_000;

/** Incidents that have the same effect on other incidents. */
export interface CauseGroup {
  /** Open and acknowledged incidents, by id. */
  open: ReadonlyMap<string, StoredIncident>;
  /** Most recently resolved incident. */
  ended: StoredIncident | undefined;
}

interface IndexParts {
  silences: Pick<SilenceStore, 'listInhibitRules' | 'labelsOf'>;
  /** Returns the thing that has failed. Undefined if the incident does not report a failure. */
  findFailing(incident: StoredIncident): string | undefined;
  graceMs(): number;
}

/** Source of the alert about most hosts. For each host that the alert covers, the alert is a cause. */
export const mostHosts = 'hosts';

/**
 * Incidents that may be causes of other incidents. Failures are indexed by the failed thing, and sources in rules by
 * their equal labels.
 */
export class CauseIndex {
  readonly #parts: IndexParts;
  readonly #groups = new Map<string, { open: Map<string, StoredIncident>; ended: StoredIncident | undefined }>();
  /** Keys of the groups that contain each open incident. */
  readonly #keys = new Map<string, readonly string[]>();
  readonly #labels = new WeakMap<StoredIncident, ReadonlyMap<string, string>>();
  #removedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: IndexParts) {
    this.#parts = parts;
  }

  clear(): void {
    this.#groups.clear();
    this.#keys.clear();
  }

  /** True if the incident may hold other incidents, or may have held other incidents until it was resolved. */
  concerns(incident: StoredIncident): boolean {
    return this.#listKeys(incident).next().done !== true;
  }

  put(incident: StoredIncident, now: number): void {
    const { id, state } = incident;
    const keys = [...this.#listKeys(incident)];
    const isEnded = state === 'resolved';
    // Other groups stay in the opening order of their incidents.
    for (const key of this.#keys.get(id) ?? [])
      if (isEnded || !keys.includes(key)) this.#groups.get(key)?.open.delete(id);
    this.#keys.delete(id);
    for (const key of keys) {
      const group = this.#groups.get(key) ?? { open: new Map(), ended: undefined };
      this.#groups.set(key, group);
      if (!isEnded) group.open.set(id, incident);
      else if ((group.ended?.resolved?.at ?? 0) <= (incident.resolved?.at ?? 0)) group.ended = incident;
    }
    if (!isEnded && keys.length > 0) this.#keys.set(id, keys);
    this.#removeOld(now);
  }

  /** Finds the incidents about a failed thing. */
  find(key: string): CauseGroup | undefined {
    return this.#groups.get(key);
  }

  /** Lists the groups that hold the notifications of the incident according to the rules. */
  *findByRules(incident: StoredIncident): Generator<CauseGroup> {
    for (const [index, rule] of this.#parts.silences.listInhibitRules().entries()) {
      const labels = this.#labelsOf(incident);
      if (!rule.isTarget(labels)) continue;
      // As in Alertmanager, alerts that match both sides of a rule do not inhibit each other.
      const kinds = rule.isSource(labels) ? [false] : [false, true];
      for (const isBoth of kinds) {
        const group = this.#groups.get(toRuleKey(index, rule, labels, isBoth));
        if (group) yield group;
      }
    }
  }

  *#listKeys(incident: StoredIncident): Generator<string> {
    const { sender, source, trait } = incident;
    if (trait === 'overflow') return;
    const failing = this.#parts.findFailing(incident);
    if (failing !== undefined) yield failing;
    if (sender === ownSender && source === mostHosts) yield mostHosts;
    for (const [index, rule] of this.#parts.silences.listInhibitRules().entries()) {
      const labels = this.#labelsOf(incident);
      if (rule.isSource(labels)) yield toRuleKey(index, rule, labels, rule.isTarget(labels));
    }
  }

  #labelsOf(incident: StoredIncident): ReadonlyMap<string, string> {
    const known = this.#labels.get(incident);
    if (known) return known;
    const { source, hostname, level, title, labels } = incident;
    const all = this.#parts.silences.labelsOf({ source, hostname, level, text: title, labels });
    this.#labels.set(incident, all);
    return all;
  }

  #removeOld(now: number): void {
    if (Math.abs(now - this.#removedAt) < removalMs) return;
    this.#removedAt = now;
    const before = now - this.#parts.graceMs();
    for (const [key, { open, ended }] of this.#groups)
      if (open.size === 0 && (ended?.resolved?.at ?? 0) < before) this.#groups.delete(key);
  }
}

const toRuleKey = (
  index: number,
  { equal }: InhibitRule,
  labels: ReadonlyMap<string, string>,
  isBoth: boolean,
): string => JSON.stringify([index, isBoth, ...equal.map((name) => labels.get(name) ?? '')]);
