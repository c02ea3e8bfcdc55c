import { HttpError } from '../../http/errors.ts';
import { ownSender } from '../../kit/alert-record.ts';
import {
  type DependencySource,
  type Dependent,
  type FindThing,
  findDependencyProblem,
  isThingSource,
  listDependencies,
  listDependencyProblems,
  nameRef,
  splitRef,
  type ThingRef,
  toRef,
} from '../../kit/dependencies.ts';
import type { IncidentCause } from '../../kit/incident.ts';
import type { IncidentHold } from '../../kit/incident-source.ts';
import type { SilenceStore } from '../../kit/silence-source.ts';
import { type CauseGroup, CauseIndex, mostHosts } from './cause-index.ts';
import { findHoldEnd, type PossibleCause } from './hold.ts';
import type { StoredIncident } from './incident.ts';
import type { IncidentStore } from './store.ts';

/** Milliseconds between two checks of an incident that waits for a possible cause to be examined. */
const lookMs = 1000;

/** Milliseconds between two checks of an incident that the alert about most hosts holds until its own host reports. */
const mostLookMs = 5000;

/** Milliseconds between two checks of any other held incident. */
const heldLookMs = 30_000;

interface FoundGroup {
  group: CauseGroup | undefined;
  /** True for the alert about most hosts. */
  isMost?: boolean;
  /** Name of the watch, heartbeat or host that may be the cause. Undefined if an inhibit rule names the cause. */
  name: string | undefined;
  knownAt: number;
}

interface CauseParts {
  store: Pick<IncidentStore, 'hasRead' | 'listSince' | 'onChanged' | 'onLost'>;
  silences: Pick<SilenceStore, 'listInhibitRules' | 'labelsOf'>;
  clock: () => Date;
  graceMs(): number;
}

/** Finds the causes that hold an incident's notifications, using the incidents, the settings and the time. */
export class Causes {
  readonly #parts: CauseParts;
  readonly #sources: DependencySource[] = [];
  readonly #listeners: (() => void)[] = [];
  readonly #index: CauseIndex;
  /** Dependencies by thing, listed on first use after a change. */
  readonly #dependencies = new Map<ThingRef, ReadonlySet<ThingRef>>();
  #isLoaded = false;
  #isStarted = false;

  constructor(parts: CauseParts) {
    this.#parts = parts;
    this.#index = new CauseIndex({ ...parts, findFailing: (incident) => this.#findFailing(incident) });
    const { store } = parts;
    store.onChanged((incidents) => {
      if (this.#isLoaded) for (const incident of incidents) this.#index.put(incident, this.#now());
    });
    store.onLost(() => this.refresh());
  }

  /** Adds a feature's source of things. */
  add(source: DependencySource): void {
    this.#sources.push(source);
    source.onChanged(() => this.refresh());
    this.refresh();
  }

  /** Begins to decide. Before this call, some features may not have added their things yet. */
  start(): void {
    this.#isStarted = true;
    this.refresh();
  }

  /** Calls the listener after changes to dependencies, rules or the grace period. */
  onChanged(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Reads the incidents again after changes to dependencies, rules or incidents. */
  refresh(): void {
    this.#isLoaded = false;
    this.#dependencies.clear();
    for (const listener of this.#listeners) listener();
  }

  /** True if an incident may hold other incidents, or may have held other incidents until it was resolved. */
  isCause(incident: StoredIncident): boolean {
    return this.#index.concerns(incident);
  }

  /** Returns the reason why the notifications of an unresolved incident are held. Undefined if they are not held. */
  find(incident: StoredIncident): IncidentHold | undefined {
    if (incident.state === 'resolved') return undefined;
    const now = this.#now();
    if (!this.#areThingsKnown && isThingSource(incident.source))
      return { cause: undefined, until: Number.POSITIVE_INFINITY, lookAt: now + lookMs };
    this.#load();
    const groups = [...this.#findGroups(incident)];
    const found = groups.map(toPossibleCause);
    if (found.length === 0) return undefined;
    const { graceMs } = this.#parts;
    const until = findHoldEnd(incident, found, graceMs(), now);
    if (until <= now) return undefined;
    const isWaiting = found.some(({ knownAt }) => knownAt > now);
    const restMs = groups.some(({ isMost }) => isMost) ? mostLookMs : heldLookMs;
    // The farthest open cause explains the causes in between.
    const cause =
      found.findLast(({ isOpen }) => isOpen) ?? found.findLast(({ endedAt = 0 }) => endedAt + graceMs() > now);
    return { cause: cause?.cause, until, lookAt: Math.min(until, now + (isWaiting ? lookMs : restMs)) };
  }

  /** Throws an HttpError if the settings of a thing name dependencies that it cannot have. */
  assertUsable(ref: ThingRef, { dependsOn }: Dependent): void {
    if (dependsOn === undefined || dependsOn.length === 0) return;
    const problem = findDependencyProblem({ ref, dependsOn }, this.#find);
    if (problem !== undefined) throw new HttpError('invalid', problem);
  }

  /** Throws an HttpError if a thing must not be deleted because other things depend on it. */
  assertUnneeded(ref: ThingRef): void {
    const dependents = this.#listThings().filter(
      (thing) => thing.ref !== ref && thing.dependsOn?.some((name) => toRef(name, this.#find) === ref),
    );
    const [first] = dependents;
    if (!first) return;
    const others = dependents.length > 1 ? ` and ${dependents.length - 1} more depend` : ' depends';
    throw new HttpError(
      'wrong-state',
      `${nameRef(first.ref)}${others} on ${nameRef(ref)}: change dependsOn there first`,
    );
  }

  /**
   * Counts the things with a broken `dependsOn`: it names something that does not exist, or leads back to the thing
   * itself.
   */
  countBroken(): number {
    if (!this.#areThingsKnown) return 0;
    return listDependencyProblems(this.#listThings(), this.#find).length;
  }

  /**
   * False while features are still being created or runtime settings have not been read. Dependencies are then unknown.
   */
  get #areThingsKnown(): boolean {
    return this.#isStarted && this.#sources.every((source) => source.isRead());
  }

  readonly #find: FindThing = (ref) => {
    const [kind, name] = splitRef(ref);
    return this.#sourceOf(kind)?.find(name);
  };

  #sourceOf(kind: string): DependencySource | undefined {
    return this.#sources.find((source) => source.kind === kind);
  }

  #listThings(): { ref: ThingRef; dependsOn: readonly string[] }[] {
    return this.#sources.flatMap((source) =>
      source
        .list()
        .flatMap(({ name, dependsOn }): { ref: ThingRef; dependsOn: readonly string[] }[] =>
          dependsOn && dependsOn.length > 0 ? [{ ref: `${source.kind}/${name}`, dependsOn }] : [],
        ),
    );
  }

  /** Yields the possible causes of an incident. */
  *#findGroups(incident: StoredIncident): Generator<FoundGroup> {
    const ref = this.#findThing(incident);
    if (ref !== undefined) {
      for (const each of this.#listDependencies(ref)) {
        // Things that depend on each other would hold each other's notifications forever.
        if (this.#listDependencies(each).has(ref)) continue;
        yield this.#toGroup(each, incident);
      }
    }
    for (const group of this.#index.findByRules(incident)) {
      yield { group, name: undefined, knownAt: Number.NEGATIVE_INFINITY };
    }
  }

  #listDependencies(ref: ThingRef): ReadonlySet<ThingRef> {
    const known = this.#dependencies.get(ref) ?? new Set(listDependencies(ref, this.#find));
    this.#dependencies.set(ref, known);
    return known;
  }

  #toGroup(ref: ThingRef, { openedAt }: StoredIncident): FoundGroup {
    const [kind, name] = splitRef(ref);
    const source = this.#sourceOf(kind);
    const group = this.#index.find(ref);
    const most = kind === 'host' ? this.#index.find(mostHosts) : undefined;
    const isOpen = group !== undefined && group.open.size > 0;
    const isAmongMost = !isOpen && most !== undefined && (source?.isAmongMost?.(name) === true || most.open.size === 0);
    return {
      group: isAmongMost ? most : group,
      isMost: isAmongMost,
      name: nameRef(ref),
      knownAt: source?.knownAt(name, openedAt, this.#parts.graceMs()) ?? openedAt,
    };
  }

  /** Returns the thing that an incident concerns. */
  #findThing({ sender, source }: StoredIncident): ThingRef | undefined {
    const [kind, name] = splitRef(source);
    const known = this.#sourceOf(kind);
    if (!known?.find(name)) return undefined;
    const isSender = sender === ownSender || (sender !== null && known.isSender?.(name, sender) === true);
    return isSender ? (source as ThingRef) : undefined;
  }

  #findFailing(incident: StoredIncident): ThingRef | undefined {
    const ref = this.#findThing(incident);
    return ref !== undefined && this.#sourceOf(splitRef(ref)[0])?.isFailure(incident) ? ref : undefined;
  }

  #load(): void {
    if (this.#isLoaded) return;
    const now = this.#now();
    const { store, graceMs } = this.#parts;
    this.#index.clear();
    for (const incident of store.listSince(now - graceMs())) this.#index.put(incident, now);
    // Events from before the start are not changes.
    this.#isLoaded = store.hasRead;
  }

  #now(): number {
    return this.#parts.clock().getTime();
  }
}

const toPossibleCause = ({
  group,
  name,
  knownAt,
}: FoundGroup): PossibleCause & { cause: IncidentCause | undefined } => {
  const [open] = group?.open.values() ?? [];
  const incident = open ?? group?.ended;
  return {
    isOpen: open !== undefined,
    endedAt: group?.ended?.resolved?.at,
    knownAt,
    cause: incident && { id: incident.id, number: incident.number, name: name ?? incident.title },
  };
};
