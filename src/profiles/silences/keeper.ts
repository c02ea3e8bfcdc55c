import { HttpError } from '../../http/errors.ts';
import { createId } from '../../storage/journal/line.ts';
import { ownSender } from '../alert-record.ts';
import { CompiledSettings, type KeeperParts } from '../compiled-settings.ts';
import type { MadeSetting, Silenceable } from '../offers.ts';
import { compileMatching, longestCompared, Subject } from './matchers.ts';
import { type KnownSilence, type StoredSilence, stateOf } from './silence.ts';
import { createWindows } from './windows.ts';

const kind = 'silence';

/** How many there can be, and of those that recur. */
const mostSilences = 10_000;
const mostRecurring = 1000;

/** How many can be such that every alert is compared with them; one with a regular expression counts as ten. */
const mostKeyless = 1000;
const expressionCost = 10;

/** For how many subjects the silences that match are known. */
const mostSubjects = 20_000;
const longestSubject = 2000;

/** Milliseconds for which expired ones are listed. */
const listedMs = 30 * 24 * 60 * 60 * 1000;

/** How many are removed at once. */
const removedCount = 100;

/** All silences, indexed when they are first needed after a change. */
export class SilenceKeeper extends CompiledSettings<StoredSilence, KnownSilence> {
  readonly #clock: () => Date;
  /** Those that are indexed, oldest first, and by id. */
  #indexed: readonly KnownSilence[] | undefined;
  #byId = new Map<string, KnownSilence>();
  /** Those that have a key, by that; and the others. */
  #byKey = new Map<string, KnownSilence[]>();
  #others: KnownSilence[] = [];
  /** Those that match, by the subject: the same incidents are asked about again and again. */
  readonly #matches = new Map<string, readonly KnownSilence[]>();
  /** How many are being stored. */
  #creating = 0;

  /** `onUnusable` gets the error of a silence that cannot be used. */
  constructor({ clock, ...parts }: Pick<KeeperParts<never>, 'settings' | 'onUnusable'> & { clock: () => Date }) {
    super({ ...parts, kind, compile });
    this.#clock = clock;
  }

  silencesOf(subject: Silenceable, at: number): string[] {
    if (this.#index().length === 0) return [];
    const found = this.#findMatches(subject).filter(({ windows }) => stateOf(windows.findAt(at), at) === 'active');
    return found.map(({ setting: { name } }) => name).sort();
  }

  #findMatches({ source, hostname, level, text, labels }: Silenceable): readonly KnownSilence[] {
    const id = JSON.stringify([source, hostname, level, text.slice(0, longestCompared), labels]);
    const known = this.#matches.get(id);
    if (known) return known;
    const prepared = new Subject({ source, hostname, level, text, labels });
    const found = new Set<KnownSilence>();
    const look = (silence: KnownSilence): void => {
      if (silence.test(prepared)) found.add(silence);
    };
    for (const key of prepared.keys()) this.#byKey.get(key)?.forEach(look);
    this.#others.forEach(look);
    if (this.#matches.size >= mostSubjects) this.#matches.clear();
    const matches = [...found];
    if (id.length <= longestSubject) this.#matches.set(id, matches);
    return matches;
  }

  nextChangeAfter(at: number): number | undefined {
    let next = Number.POSITIVE_INFINITY;
    for (const { windows } of this.list()) {
      const window = windows.findAt(at);
      if (window) next = Math.min(next, window.startsAt > at ? window.startsAt : window.endsAt);
    }
    return next === Number.POSITIVE_INFINITY ? undefined : next;
  }

  find(id: string): KnownSilence | undefined {
    this.#index();
    return this.#byId.get(id);
  }

  /** Adds one and resolves to it. Rejects with an HttpError where there are too many. */
  async create(value: StoredSilence, by: string): Promise<KnownSilence> {
    const at = this.#clock().getTime();
    this.#creating += 1;
    try {
      await this.#makeRoom(at);
      return await this.#put(createId(at), value, by);
    } finally {
      this.#creating -= 1;
    }
  }

  async replace(id: string, value: StoredSilence, by: string, expected?: readonly number[]): Promise<KnownSilence> {
    return this.#put(id, value, by, expected);
  }

  /** Ends one now; it stays listed. */
  async expire(silence: KnownSilence, by: string, expected?: readonly number[]): Promise<KnownSilence> {
    const at = this.#clock().getTime();
    const { name, value } = silence.setting;
    const startsAt = Math.min(value.startsAt, at);
    return this.#put(name, { ...value, startsAt, endsAt: at }, by, expected);
  }

  /** Removes those that expired long ago; several instances may do that at once. */
  async removeOld(): Promise<void> {
    const before = this.#clock().getTime() - listedMs;
    const old = this.list().filter(({ setting: { value }, windows }) => {
      return value.endsAt !== null && value.endsAt < before && !windows.findAt(before);
    });
    for (const { setting } of old.slice(0, removedCount)) await this.#remove(setting);
  }

  async #put(id: string, value: StoredSilence, by: string, expected?: readonly number[]): Promise<KnownSilence> {
    // Refuses what cannot be used before it is stored.
    const compiled = compile({ name: id, value, version: 0, by, at: 0, createdAt: 0 });
    if (value.recurring) this.#assertFewRecurring(id);
    if (compiled.key === undefined) await this.#makeRoomFor(compiled);
    const setting = await this.requireSettings(id).put(kind, id, value, by, expected);
    return compile(setting);
  }

  #assertFewRecurring(id: string): void {
    const at = this.#clock().getTime();
    const isOther = ({ setting: { name, value }, windows }: KnownSilence): boolean =>
      name !== id && value.recurring !== undefined && windows.findAt(at) !== undefined;
    if (this.list().filter(isOther).length < mostRecurring) return;
    throw new HttpError('wrong-state', `There are ${mostRecurring} silences with a schedule: end some first`);
  }

  /** Expired ones give way. */
  async #makeRoomFor(keyless: KnownSilence): Promise<void> {
    this.#index();
    const at = this.#clock().getTime();
    const { name } = keyless.setting;
    const others = this.#others.filter(({ setting }) => setting.name !== name);
    const isExpired = ({ windows }: KnownSilence): boolean => windows.findAt(at) === undefined;
    const sum = (silences: readonly KnownSilence[]): number => silences.reduce((all, one) => all + costOf(one), 0);
    if (isExpired(keyless)) return;
    if (sum(others.filter((one) => !isExpired(one))) + costOf(keyless) > mostKeyless) {
      throw new HttpError(
        'wrong-state',
        'Every alert would be compared with too many silences: give the beginning of a source, host name, text or label',
      );
    }
    let excess = sum(others) + costOf(keyless) - mostKeyless;
    for (const expired of others.filter(isExpired)) {
      if (excess <= 0) return;
      excess -= costOf(expired);
      await this.#remove(expired.setting);
    }
  }

  async #remove({ name, version }: MadeSetting): Promise<void> {
    // Somebody else may have changed or removed it meanwhile.
    await this.settings?.delete(kind, name, ownSender, [version]).catch(() => undefined);
  }

  /** Expired ones give way. */
  async #makeRoom(at: number): Promise<void> {
    // Many are often created one after the other: not all are compiled for each.
    if ((this.settings?.list(kind).length ?? 0) + this.#creating <= mostSilences) return;
    const expired = this.list().find(({ windows }) => !windows.findAt(at));
    if (!expired) throw new HttpError('wrong-state', `There are ${mostSilences} silences: end some first`);
    await this.#remove(expired.setting);
  }

  #index(): readonly KnownSilence[] {
    const all = this.list();
    if (all === this.#indexed) return all;
    this.#indexed = all;
    this.#byId = new Map(all.map((silence) => [silence.setting.name, silence]));
    this.#byKey = new Map();
    this.#others = [];
    this.#matches.clear();
    for (const silence of all) {
      const { key } = silence;
      if (key === undefined) this.#others.push(silence);
      else if (!this.#byKey.get(key)?.push(silence)) this.#byKey.set(key, [silence]);
    }
    return all;
  }
}

/** What it costs to compare a subject with it, at worst. */
const costOf = ({ setting: { value } }: KnownSilence): number =>
  'matchers' in value.matching && value.matching.matchers.some(({ isRegex }) => isRegex) ? expressionCost : 1;

/** @throws HttpError */
const compile = (setting: MadeSetting<StoredSilence>): KnownSilence => ({
  setting,
  windows: createWindows(setting.value),
  ...compileMatching(setting.value.matching),
});
