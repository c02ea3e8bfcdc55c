import Type from 'typebox';
import type { SharedIncident } from './incident.ts';

/** Kinds of things with dependencies. A name without a kind is looked up in this order. */
const thingKinds = ['watch', 'heartbeat', 'host'] as const;
export type ThingKind = (typeof thingKinds)[number];

/** Kind and name of a watch, heartbeat or host. The source of its alerts has the same form. */
export type ThingRef = `${ThingKind}/${string}`;

/** Names of a thing's dependencies. All are optional, as in the settings of the thing. */
export interface Dependent {
  dependsOn?: readonly string[] | undefined;
}

export interface Thing extends Dependent {
  ref: ThingRef;
}

/** Finds a thing. Undefined if it does not exist. */
export type FindThing = (ref: ThingRef) => Dependent | undefined;

/** Setting `dependsOn` of watches, heartbeats and hosts. */
export const dependsOn = Type.Array(
  Type.String({
    pattern: '^(?:(?:watch|heartbeat|host)/)?[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
    examples: ['router'],
  }),
  {
    maxItems: 20,
    uniqueItems: true,
    description:
      'Dependencies: `watch/NAME`, `heartbeat/NAME`, `host/NAME`, or only a name, which is looked up in this order. While a dependency has an incident, incidents of this entry notify nobody.',
  },
);

/**
 * Watches, heartbeats or hosts of a feature. Used to decide which incident holds the notifications of which other
 * incident.
 */
export interface DependencySource {
  kind: ThingKind;
  list(): readonly (Dependent & { name: string })[];
  find(name: string): Dependent | undefined;
  /** False until runtime settings have been read. */
  isRead(): boolean;
  /** Calls the listener when a definition changes. */
  onChanged(listener: () => void): void;
  /** True if an incident of a thing means that the thing has failed. Such an incident can be a cause. */
  isFailure(incident: SharedIncident): boolean;
  /** True if the alerts of the thing come from this sender instead of signalbox itself. */
  isSender?(name: string, sender: string): boolean;
  /** True if an incident with the source `hosts` currently covers the thing. */
  isAmongMost?(name: string): boolean;
  /**
   * Returns the time at which it will be known whether the thing had failed by `since`, at most about `graceMs` later.
   * Returns `since` if the thing is known to be well or if its state cannot be known. Times are Unix milliseconds.
   */
  knownAt(name: string, since: number, graceMs: number): number;
}

/** Returns the thing that a name in `dependsOn` means. Undefined if it does not exist. */
export const toRef = (name: string, find: FindThing): ThingRef | undefined => {
  const refs = name.includes('/') ? [name as ThingRef] : thingKinds.map((kind): ThingRef => `${kind}/${name}`);
  return refs.find((ref) => find(ref) !== undefined);
};

/** True for the source of alerts about watches, heartbeats and hosts. */
export const isThingSource = (source: string): boolean => thingKinds.some((kind) => source.startsWith(`${kind}/`));

/** Splits a thing into kind and name. */
export const splitRef = (ref: string): [ThingKind, string] => {
  const at = ref.indexOf('/');
  return [ref.slice(0, at) as ThingKind, ref.slice(at + 1)];
};

/** Returns the words for a thing in sentences: `router` for a watch, `heartbeat backup`. */
export const nameRef = (ref: ThingRef): string => {
  const [kind, name] = splitRef(ref);
  return kind === 'watch' ? name : `${kind} ${name}`;
};

/** Lists all dependencies of a thing, direct and indirect, nearest first. Leaves out unknown names. */
export const listDependencies = (ref: ThingRef, find: FindThing): ThingRef[] => {
  const found = new Set([ref]);
  // Iterating over a Set also visits things that are added meanwhile.
  for (const each of found) for (const next of listDirect(each, find)) found.add(next);
  return [...found].slice(1);
};

const listDirect = (ref: ThingRef, find: FindThing): ThingRef[] =>
  (find(ref)?.dependsOn ?? []).flatMap((name) => toRef(name, find) ?? []);

/** Returns the reason why the `dependsOn` of a thing is unusable, as a clause. `find` need not know the thing yet. */
export const findDependencyProblem = (thing: Thing, find: FindThing): string | undefined => {
  const findWith: FindThing = (ref) => (ref === thing.ref ? thing : find(ref));
  return findUnknown(thing, findWith) ?? findCircle(thing.ref, findWith);
};

/** Lists the things with an unusable `dependsOn`, with the reasons. Searches for circles only where they can exist. */
export const listDependencyProblems = <T extends Thing>(
  things: readonly T[],
  find: FindThing,
): { thing: T; problem: string }[] => {
  const entangled = listEntangled(things, find);
  return things.flatMap((thing) => {
    const problem = findUnknown(thing, find) ?? (entangled.has(thing.ref) ? findCircle(thing.ref, find) : undefined);
    return problem === undefined ? [] : [{ thing, problem }];
  });
};

const findUnknown = ({ dependsOn }: Dependent, find: FindThing): string | undefined => {
  const unknown = dependsOn?.find((name) => toRef(name, find) === undefined);
  if (unknown === undefined) return undefined;
  const noun = unknown.includes('/') ? splitRef(unknown).join(' ') : `watch, heartbeat or host ${unknown}`;
  return `dependsOn: ${noun} does not exist`;
};

/**
 * Lists the things that are part of a cycle of dependencies or lead to a cycle. Removes things without dependencies
 * repeatedly, and returns the rest.
 */
const listEntangled = (things: readonly Thing[], find: FindThing): ReadonlySet<ThingRef> => {
  const left = new Map(things.map(({ ref }) => [ref, new Set(listDirect(ref, find))]));
  const dependents = new Map<ThingRef, ThingRef[]>();
  for (const [ref, direct] of left) {
    for (const each of direct) {
      const known = dependents.get(each);
      if (known) known.push(ref);
      else dependents.set(each, [ref]);
    }
  }
  const free = new Set([...dependents.keys(), ...left.keys()].filter((ref) => (left.get(ref)?.size ?? 0) === 0));
  // Iterating over a Set also visits things that are added meanwhile.
  for (const each of free) {
    for (const dependent of dependents.get(each) ?? []) {
      const direct = left.get(dependent);
      direct?.delete(each);
      if (direct?.size === 0) free.add(dependent);
    }
  }
  return new Set([...left.keys()].filter((ref) => !free.has(ref)));
};

/** Describes the shortest path from a thing back to itself, as a clause. */
const findCircle = (start: ThingRef, find: FindThing): string | undefined => {
  const found = new Set([start]);
  const before = new Map<ThingRef, ThingRef>();
  for (const each of found) {
    for (const next of listDirect(each, find)) {
      if (next === start)
        return `dependsOn must not lead back to itself: ${toWay(start, each, before).map(nameRef).join(' → ')}`;
      if (!before.has(next)) before.set(next, each);
      found.add(next);
    }
  }
  return undefined;
};

const toWay = (start: ThingRef, last: ThingRef, before: ReadonlyMap<ThingRef, ThingRef>): ThingRef[] => {
  const way = [start];
  for (let each = last; each !== start; each = before.get(each) ?? start) way.unshift(each);
  return [start, ...way];
};

/**
 * Returns problems of the things in the config file, as clauses. Hosts enrol while the server runs, so `host/NAME` may
 * be missing.
 */
export const findThingProblems = (things: readonly Thing[]): string[] => {
  const byRef = new Map(things.map((thing) => [thing.ref, thing]));
  const all = new Set(things.flatMap((thing) => thing.dependsOn ?? []));
  for (const name of all) {
    if (name.startsWith('host/') && !byRef.has(name as ThingRef))
      byRef.set(name as ThingRef, { ref: name as ThingRef });
  }
  const find: FindThing = (ref) => byRef.get(ref);
  return listDependencyProblems(things, find)
    .slice(0, 1)
    .map(({ thing, problem }) => {
      const [kind, name] = splitRef(thing.ref);
      return `${kind === 'watch' ? 'watches' : `${kind}s`}: ${name}: ${problem}`;
    });
};
