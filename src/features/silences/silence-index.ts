import { hash } from 'node:crypto';
import { HttpError } from '../../http/errors.ts';
import type { Silenceable } from '../../kit/silence-source.ts';
import { maxComparedLength } from './expressions.ts';
import { type CompiledMatch, Subject } from './matchers.ts';
import type { KnownSilence } from './silence.ts';
import { tooMuchWorkText, Work } from './work.ts';

/**
 * Limits of the cache: number of subjects, number of matching silences of all subjects, and number of characters of a
 * key that is not hashed.
 */
const maxSubjects = 20_000;
const maxMatches = 500_000;
const maxNameLength = 200;

/** Silences that match a subject, and the number of silences that the subject has been compared with so far. */
interface Verdict {
  compared: number;
  matches: readonly KnownSilence[];
}

/** Index of unexpired silences. Leaves out silences that would make comparing a single alert too slow. */
export class SilenceIndex {
  #listed: readonly KnownSilence[] = [];
  #byKey = new Map<string, KnownSilence[]>();
  #others: KnownSilence[] = [];
  #affordable = new Set<KnownSilence>();
  #work = new Work();
  /** Silences in the order in which they were added. A known subject is compared only with silences added later. */
  #added: KnownSilence[] = [];
  readonly #verdicts = new Map<string, Verdict>();
  #matchCount = 0;

  /** Indexes the silences, oldest first. Sets `problem` on each unusable one. */
  update(silences: readonly KnownSilence[]): void {
    const before = this.#listed;
    this.#listed = silences;
    const isLonger = silences.length >= before.length && before.every((one, index) => silences[index] === one);
    const affordable = this.#affordable;
    if (!isLonger) {
      this.#byKey = new Map();
      this.#others = [];
      this.#affordable = new Set();
      this.#work = new Work();
    }
    for (const silence of isLonger ? silences.slice(before.length) : silences) this.#add(silence, affordable);
    if (this.#added.length > 2 * silences.length + 1000) this.#forget();
  }

  /** Returns all matching silences, including pending ones. */
  find({ source, hostname, level, text, labels }: Silenceable): readonly KnownSilence[] {
    if (this.#affordable.size === 0) return [];
    const full = JSON.stringify([source, hostname, level, text.slice(0, maxComparedLength), labels]);
    const name = full.length > maxNameLength ? hash('sha256', full, 'base64') : full;
    const known = this.#verdicts.get(name);
    if (known && known.compared === this.#added.length && known.matches.every((one) => this.#affordable.has(one))) {
      return known.matches;
    }
    const subject = new Subject({ source, hostname, level, text, labels });
    const found = known ? this.#compareNew(known, subject) : this.#compareAll(subject);
    this.#remember(name, found, known?.matches.length ?? 0);
    return found;
  }

  /**
   * False if comparing an alert with this silence as well could take too long. `others` is the cost of the other
   * silences.
   */
  hasRoom(match: CompiledMatch, others: number): boolean {
    return this.#work.hasRoom(match, others);
  }

  countBroken(): number {
    return this.#listed.filter(({ problem }) => problem !== undefined).length;
  }

  #add(silence: KnownSilence, before: ReadonlySet<KnownSilence>): void {
    silence.problem = undefined;
    try {
      const match = silence.match();
      if (!this.#work.hasRoom(match)) throw new HttpError('wrong-state', tooMuchWorkText);
      this.#work.add(match);
      if (match.key === undefined) this.#others.push(silence);
      else if (!this.#byKey.get(match.key.text)?.push(silence)) this.#byKey.set(match.key.text, [silence]);
    } catch (error) {
      silence.problem = (error as Error).message;
      return;
    }
    if (!before.has(silence)) this.#added.push(silence);
    this.#affordable.add(silence);
  }

  #compareAll(subject: Subject): readonly KnownSilence[] {
    const found = new Set<KnownSilence>();
    for (const key of subject.keys())
      for (const one of this.#byKey.get(key) ?? []) if (isMatch(one, subject)) found.add(one);
    for (const one of this.#others) if (isMatch(one, subject)) found.add(one);
    return [...found];
  }

  #compareNew({ compared, matches: before }: Verdict, subject: Subject): readonly KnownSilence[] {
    const added = this.#added.slice(compared).filter((one) => this.#affordable.has(one) && isMatch(one, subject));
    return [...new Set([...before.filter((one) => this.#affordable.has(one)), ...added])];
  }

  #remember(name: string, found: readonly KnownSilence[], before: number): void {
    this.#matchCount += found.length - before;
    if (this.#verdicts.size >= maxSubjects || this.#matchCount > maxMatches) {
      this.#verdicts.clear();
      this.#matchCount = found.length;
    }
    this.#verdicts.set(name, { compared: this.#added.length, matches: found });
  }

  #forget(): void {
    this.#added = [...this.#affordable];
    this.#verdicts.clear();
    this.#matchCount = 0;
  }
}

/** Tests a silence. If its expression turns out to be unusable, the silence gets a problem and matches nothing. */
export const isMatch = (silence: KnownSilence, subject: Subject): boolean => {
  if (silence.problem !== undefined) return false;
  try {
    return silence.match().test(subject);
  } catch (error) {
    silence.problem = (error as Error).message;
    return false;
  }
};
