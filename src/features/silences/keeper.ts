import { HttpError } from '../../http/errors.ts';
import { ownSender } from '../../kit/alert-record.ts';
import { SettingKeeper } from '../../kit/setting-keeper.ts';
import type { RuntimeSetting, SettingStore } from '../../kit/setting-store.ts';
import type { Maintenance, Silenceable } from '../../kit/silence-source.ts';
import { createId } from '../../storage/journal/line.ts';
import { silenceKind } from './kind.ts';
import { assertMatching, Subject } from './matchers.ts';
import { type KnownSilence, stateOf } from './silence.ts';
import { isMatch, SilenceIndex } from './silence-index.ts';
import type { StoredSilence } from './stored.ts';
import { createWindows, type SilenceWindow } from './windows.ts';
import { tooMuchWorkText, Work } from './work.ts';

/** Maximum number of unexpired recurring silences. */
const maxRecurring = 1000;

/** Maximum number of ids in a result. One silence is enough to silence an alert. */
const maxIds = 100;

/** Milliseconds for which expired silences remain listed. */
const expiredRetentionMs = 30 * 24 * 60 * 60 * 1000;

/** Maximum number of expired silences removed per call. */
const maxRemoved = 100;

/** Maximum number of listed maintenance periods, and of listed windows per silence. */
const maxMaintenance = 50;
const maxWindows = 5;

/** List of silences that a result was computed from, and the period during which the result is valid. */
interface Validity {
  list: readonly KnownSilence[];
  from: number;
  until: number;
}

const isValid = (known: Validity | undefined, list: readonly KnownSilence[], at: number): known is Validity =>
  known?.list === list && at >= known.from && at < known.until;

interface SilenceKeeperParts {
  settings: SettingStore;
  clock: () => Date;
  /** Reports an unusable silence. Called only once per silence. */
  onUnusable(id: string, error: Error): void;
}

/** All silences. After a silence has changed or ended, the index is updated on the next access. */
export class SilenceKeeper {
  readonly settings: SettingKeeper<StoredSilence, KnownSilence>;
  readonly #clock: () => Date;
  readonly #onUnusable: (id: string, error: Error) => void;
  readonly #reported = new Set<string>();
  readonly #index = new SilenceIndex();
  /** List of silences in the index. Valid until the next of them ends. */
  #indexed: Validity | undefined;
  /** Silences that had already ended when the list was indexed. The latest end comes first. */
  #ended: readonly KnownSilence[] = [];
  /** True if a silence declares maintenance now or later. */
  #hasMaintenance = false;
  /** Time of the next change. Valid until a silence begins or ends. */
  #nextChange: Validity | undefined;
  /** Silences that are being stored, and total cost of the silences stored since the list was indexed. */
  readonly #storing = new Set<KnownSilence>();
  #addedCost = 0;

  constructor({ settings, clock, onUnusable }: SilenceKeeperParts) {
    this.settings = new SettingKeeper(silenceKind, { settings, onUnusable });
    this.#clock = clock;
    this.#onUnusable = onUnusable;
  }

  /** Returns the ids of up to 100 matching silences that are active at the time. */
  silencesOf(subject: Silenceable, at: number): string[] {
    this.#update();
    const found = this.#index.find(subject).filter(({ windows }) => stateOf(windows.findAt(at), at) === 'active');
    const all = found.length > 0 ? found : this.#findEnded(subject, at);
    return all
      .slice(0, maxIds)
      .map(({ name }) => name)
      .sort();
  }

  /** True if an active silence declares maintenance of the subject. */
  isMaintained(subject: Silenceable, at: number): boolean {
    this.#update();
    if (!this.#hasMaintenance) return false;
    return this.#index
      .find(subject)
      .some(({ setting, windows }) => setting.value.maintenance && stateOf(windows.findAt(at), at) === 'active');
  }

  /** Lists maintenance of the subjects that begins before `until` and ends after `from`, earliest first. */
  listMaintenance(subjects: readonly Silenceable[], from: number, until: number): Maintenance[] {
    this.#update();
    if (!this.#hasMaintenance) return [];
    const covered = new Map<KnownSilence, number[]>();
    for (const [index, subject] of subjects.entries()) {
      for (const silence of this.#index.find(subject)) {
        if (!silence.setting.value.maintenance) continue;
        const known = covered.get(silence);
        if (known) known.push(index);
        else covered.set(silence, [index]);
      }
    }
    return [...covered]
      .flatMap(([silence, indexes]) =>
        listWindows(silence, from, until).map((window) => ({ id: silence.name, ...window, covered: indexes })),
      )
      .sort((one, other) => one.startsAt - other.startsAt)
      .slice(0, maxMaintenance);
  }

  /**
   * Finds silences that were active at the time but have ended since. Needed because an alert may wait a long time for
   * delivery.
   */
  #findEnded(subject: Silenceable, at: number): KnownSilence[] {
    if ((this.#ended[0]?.setting.value.endsAt ?? 0) <= at) return [];
    const work = new Work();
    const compared = new Subject(subject);
    const found: KnownSilence[] = [];
    for (const silence of this.#ended) {
      if ((silence.setting.value.endsAt ?? at) <= at) break;
      if (stateOf(silence.windows.findAt(at), at) !== 'active' || !isUsable(silence)) continue;
      const match = silence.match();
      if (!work.hasRoom(match)) break;
      work.add(match);
      if (isMatch(silence, compared)) found.push(silence);
    }
    return found;
  }

  /** Returns all silences, oldest first. Includes unusable ones. Returns the same array until a silence changes. */
  list(): readonly KnownSilence[] {
    this.#update();
    return this.settings.list();
  }

  nextChangeAfter(at: number): number | undefined {
    const list = this.list();
    const known = isValid(this.#nextChange, list, at)
      ? this.#nextChange
      : { list, from: at, until: findNext(list, at) };
    this.#nextChange = known;
    return Number.isFinite(known.until) ? known.until : undefined;
  }

  /** Finds a silence by id. Ignores case. */
  find(id: string): KnownSilence | undefined {
    return this.settings.find(id.toLowerCase());
  }

  /** Counts unusable silences that have not expired. */
  countBroken(): number {
    this.#update();
    return this.#index.countBroken();
  }

  /** Creates a silence. Rejects with an HttpError if there are too many silences or the silence is unusable. */
  async create(value: StoredSilence, by: string): Promise<KnownSilence> {
    return this.#put(createId(this.#clock().getTime()), value, by);
  }

  async replace(id: string, value: StoredSilence, by: string, expected?: readonly number[]): Promise<KnownSilence> {
    return this.#put(id, value, by, expected);
  }

  /** Ends a silence now, even if it is unusable. The silence remains listed. */
  async expire(silence: KnownSilence, by: string, expected?: readonly number[]): Promise<KnownSilence> {
    const at = this.#clock().getTime();
    const { name, value } = silence.setting;
    const startsAt = Math.min(value.startsAt, at);
    const ended = { ...value, startsAt, endsAt: at };
    return this.settings.store(name, ended, by, expected, {});
  }

  /** Removes silences that expired more than 30 days ago. Several instances may do so concurrently. */
  async removeOld(): Promise<void> {
    const before = this.#clock().getTime() - expiredRetentionMs;
    const old = this.list().filter(({ setting: { value }, windows }) => {
      return value.endsAt !== null && value.endsAt < before && !windows.findAt(before);
    });
    for (const { setting } of old.slice(0, maxRemoved)) await this.#remove(setting);
  }

  /** Validates and stores a silence. */
  async #put(id: string, value: StoredSilence, by: string, expected?: readonly number[]): Promise<KnownSilence> {
    createWindows(value);
    const silence = silenceKind.compile({ name: id, value, version: 0, by, at: 0, createdAt: 0 });
    assertMatching(value.matching);
    if (value.recurring) this.#assertFewRecurring(id);
    this.#assertWork(silence);
    this.#storing.add(silence);
    this.#addedCost += silence.match().cost;
    try {
      return await this.settings.store(id, value, by, expected);
    } finally {
      this.#storing.delete(silence);
    }
  }

  #assertFewRecurring(id: string): void {
    const at = this.#clock().getTime();
    const isOther = ({ name, setting, windows }: KnownSilence): boolean =>
      name !== id && setting.value.recurring !== undefined && windows.findAt(at) !== undefined;
    if ([...this.#listWithStoring()].filter(isOther).length < maxRecurring) return;
    throw new HttpError(
      'wrong-state',
      `There are already ${maxRecurring} silences with a schedule, the maximum: end some first`,
    );
  }

  /** @throws HttpError if comparing an alert would then take too long */
  #assertWork(silence: KnownSilence): void {
    const match = silence.match();
    if (this.#index.hasRoom(match, this.#addedCost)) return;
    // The index may be outdated, and the cost added since then is only an upper bound, so the exact cost is computed.
    const at = this.#clock().getTime();
    const work = new Work();
    for (const one of this.#listWithStoring()) {
      const isOther = one.name !== silence.name;
      if (isOther && one.problem === undefined && one.windows.findAt(at)) work.add(one.match());
    }
    if (!work.hasRoom(match)) throw new HttpError('wrong-state', tooMuchWorkText);
  }

  #listWithStoring(): Iterable<KnownSilence> {
    return new Map([...this.list(), ...this.#storing].map((one) => [one.name, one])).values();
  }

  async #remove({ name, version }: RuntimeSetting): Promise<void> {
    // Another instance may have changed or removed the silence in the meantime.
    await this.settings.delete(name, ownSender, [version]).catch(() => undefined);
  }

  /** Updates the index if the list has changed or a silence has ended. */
  #update(): void {
    const list = this.settings.list();
    const at = this.#clock().getTime();
    if (isValid(this.#indexed, list, at)) return;
    const current = list.filter(({ windows }) => windows.findAt(at) !== undefined);
    const ends = current.map(({ setting: { value } }) => value.endsAt ?? Number.POSITIVE_INFINITY);
    this.#hasMaintenance = current.some(({ setting: { value } }) => value.maintenance === true);
    this.#indexed = { list, from: at, until: Math.min(...ends) };
    this.#ended = list
      .filter(({ windows }) => windows.findAt(at) === undefined)
      .toSorted((one, other) => (other.setting.value.endsAt ?? 0) - (one.setting.value.endsAt ?? 0));
    this.#addedCost = [...this.#storing].reduce((sum, one) => sum + one.match().cost, 0);
    this.#index.update(current);
    for (const { name, problem } of current) this.#report(name, problem);
  }

  #report(id: string, problem: string | undefined): void {
    if (problem === undefined || this.#reported.has(id)) return;
    this.#reported.add(id);
    this.#onUnusable(id, new Error(problem));
  }
}

/** Lists the first windows of a silence that begin before `until` and end after `from`. */
const listWindows = ({ windows }: KnownSilence, from: number, until: number): SilenceWindow[] => {
  const found: SilenceWindow[] = [];
  let window = windows.findAt(from);
  while (window && window.startsAt < until && found.length < maxWindows) {
    found.push(window);
    window = windows.findAt(window.endsAt);
  }
  return found;
};

const isUsable = (silence: KnownSilence): boolean => {
  try {
    silence.match();
    return true;
  } catch {
    return false;
  }
};

/** Returns the time at which a silence next begins or ends. Infinity if there is none. */
const findNext = (silences: readonly KnownSilence[], at: number): number => {
  let next = Number.POSITIVE_INFINITY;
  for (const { windows } of silences) {
    const window = windows.findAt(at);
    if (window) next = Math.min(next, window.startsAt > at ? window.startsAt : window.endsAt);
  }
  return next;
};
