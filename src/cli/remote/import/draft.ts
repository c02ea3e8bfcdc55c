import type { EscalationPolicySettings } from '../../../features/notifications/escalation/policy.ts';
import type { LayerSettings } from '../../../features/notifications/oncall/settings.ts';
import { toDurationWords } from '../../../lib/duration.ts';
import { dayMs, minuteMs } from '../../../lib/units.ts';
import type { Entry } from './documents.ts';

/** Person as defined in the other program. */
export interface DraftPerson {
  id: string;
  /** User name or full name in the other program. */
  name: string;
  email: string | undefined;
}

/** Rotation whose members are ids from the other program. Times are Unix milliseconds. */
export interface DraftRotation {
  name: string;
  timeZone: string;
  layers: (Omit<LayerSettings, 'people'> & { people: string[] })[];
  overrides: { person: string; startsAt: number; endsAt: number }[];
}

/** Policy with targets of the form `person:ID` or `rotation:NAME`. */
export type DraftPolicy = Required<Pick<EscalationPolicySettings, 'name' | 'steps' | 'repeat'>>;

/** Content of an export, converted to the terms of signalbox. */
export interface OnCallDraft {
  people: DraftPerson[];
  rotations: DraftRotation[];
  policies: DraftPolicy[];
  /** Parts that cannot be imported, each with the reason. */
  notes: string[];
}

/** Names that policies must not have. */
export const reservedPolicies = ['stop', 'destinations'];

const longestName = 64;

/** Names of rotations or policies. If the other program uses a name twice, a number is appended to it. */
export class Names {
  readonly #taken: Set<string>;

  constructor(reserved: readonly string[] = []) {
    this.#taken = new Set(reserved);
  }

  /** Returns an unused name of letters, digits, `_` and `-` that resembles the given name. */
  add(text: string): string {
    const plain = text
      .normalize('NFKD')
      .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
      .replaceAll(/^[-_]+|-+$/g, '')
      .slice(0, longestName - 4);
    const base = plain === '' ? 'imported' : plain;
    let name = base;
    for (let number = 2; this.#taken.has(name.toLowerCase()); number += 1) name = `${base}-${number}`;
    this.#taken.add(name.toLowerCase());
    return name;
  }
}

interface DraftStep {
  /** Milliseconds since the incident opened. */
  at: number;
  targets: string[];
}

/** Maximum number of steps in a policy, and of targets in a step. */
const most = 20;

/**
 * Converts targets with their times to the steps of a policy. `lastMs` is the wait after the last step. Returns
 * undefined without targets.
 */
export const toDraftPolicy = (
  name: string,
  given: readonly DraftStep[],
  { lastMs, repeat }: { lastMs: number; repeat: number },
  notes: string[],
): DraftPolicy | undefined => {
  const byTime = new Map<number, Set<string>>();
  for (const { at, targets } of given.filter((step) => step.targets.length > 0)) {
    byTime.set(at, new Set([...(byTime.get(at) ?? []), ...targets]));
  }
  const all = [...byTime].sort(([one], [other]) => one - other);
  const [first] = all;
  if (!first) {
    notes.push(`policy ${name}: no step reaches a person or rotation`);
    return undefined;
  }
  if (first[0] > 0) notes.push(`policy ${name}: the wait before the first step is not imported`);
  if (all.length > most) notes.push(`policy ${name}: steps after the first ${most}`);
  const steps = all.slice(0, most).map(([at, targets], index) => ({
    notify: [...targets].slice(0, most),
    wait: toWait((all[index + 1]?.[0] ?? at + lastMs) - at),
  }));
  return { name, steps, repeat: Math.min(100, Math.max(0, Math.trunc(repeat))) };
};

interface PolicyMembers {
  /** Names of the members of a policy: the list of steps, the minutes to wait after a step, and the repetitions. */
  steps: string;
  minutes: string;
  repeat: string;
  /** Returns the known targets with an id: `person:ID` or `rotation:NAME`. */
  findTargets(id: string): readonly string[];
  describeTarget(target: Entry): string;
}

/** Adds the policies of a program in which each step has a list of targets and a wait. */
export const addPolicies = (
  draft: OnCallDraft,
  policies: readonly Entry[],
  { steps, minutes, repeat, findTargets, describeTarget }: PolicyMembers,
): void => {
  const names = new Names(reservedPolicies);
  for (const policy of policies) {
    const name = names.add(policy.text('name'));
    let at = 0;
    let lastMs = 5 * minuteMs;
    const read = policy.list(steps).map((step) => {
      const targets = step.list('targets').flatMap((target) => {
        const known = findTargets(target.text('id'));
        if (known.length === 0) draft.notes.push(`policy ${name}: ${describeTarget(target)} cannot be notified`);
        return known;
      });
      const made = { at, targets };
      lastMs = step.number(minutes, 5) * minuteMs;
      at += lastMs;
      return made;
    });
    const made = toDraftPolicy(name, read, { lastMs, repeat: policy.number(repeat, 0) }, draft.notes);
    if (made) draft.policies.push(made);
  }
};

/** Formats a wait. Waits are limited to at least one second and at most seven days. */
const toWait = (ms: number): string => toDurationWords(Math.min(7 * dayMs, Math.max(1000, ms)));
