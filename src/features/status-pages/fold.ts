import { hash } from 'node:crypto';
import Type from 'typebox';
import { Milliseconds } from '../../kit/time.ts';
import { createSchemaCheck } from '../../lib/schema-validation.ts';
import { dayMs } from '../../lib/units.ts';
import type { LogRecord, StoredRecord } from '../../storage/journal/line.ts';
import type { ProjectionState } from '../../storage/projection-state.ts';
import type { OnDamage } from '../../storage/snapshot.ts';
import { type Announcement, type AnnouncementUpdate, maxAnnouncements, maxOpen, maxUpdates } from './announcement.ts';
import { announcementStates } from './words.ts';

/** Maximum number of subscribers per page, and in total. */
const maxSubscribers = 1000;
const maxAllSubscribers = 5000;

/** Reader who receives a page's announcements by mail. */
export interface Subscriber {
  id: string;
  page: string;
  address: string;
  /** Time of the confirmation, in Unix milliseconds. */
  at: number;
  /** Number of the last update that was mailed or given up. */
  through: number;
}

const whole = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const isNumberEntry = createSchemaCheck(Type.Object({ lastNumber: whole }));
const isAnnouncement = createSchemaCheck(
  Type.Object({
    id: Type.String(),
    page: Type.String(),
    incident: Type.Object({ id: Type.String(), number: whole }),
    title: Type.String(),
    state: Type.Enum(announcementStates),
    updates: Type.Array(
      Type.Object({
        number: whole,
        at: Milliseconds,
        state: Type.Enum(announcementStates),
        text: Type.String(),
        by: Type.String(),
      }),
      { minItems: 1 },
    ),
  }),
);
const isSubscriber = createSchemaCheck(
  Type.Object({ id: Type.String(), page: Type.String(), address: Type.String(), at: Milliseconds, through: whole }),
);

const isDeparture = createSchemaCheck(Type.Object({ left: Type.String(), at: Milliseconds }));

type NewUpdate = Omit<AnnouncementUpdate, 'number'>;

/** Event in the log of status pages. Times are Unix milliseconds. */
export type PageEvent =
  | { type: 'announced'; announcement: Omit<Announcement, 'state' | 'updates'>; update: NewUpdate; at: number }
  | { type: 'updated'; announcement: string; update: NewUpdate; at: number }
  /** `askedAt`: time of the confirmation link. Undefined for a subscriber from another store. */
  | { type: 'subscribed'; subscriber: Omit<Subscriber, 'through'>; askedAt?: number; at: number }
  | { type: 'unsubscribed'; subscriber: string; at: number }
  /** An address left a page of another store at `at`. */
  | ({ type: 'departed' } & Departure)
  /**
   * The updates up to `through` were sent to the subscribers, or were given up because the mail server refused them for
   * too long.
   */
  | { type: 'mailed'; subscribers: readonly string[]; through: number; at: number }
  /** The page was deleted, along with its announcements and subscribers. */
  | { type: 'forgotten'; page: string; at: number }
  /** Departures whose confirmation links have expired no longer count. */
  | { type: 'expired'; at: number }
  /** Announcement from another store. */
  | { type: 'imported'; announcement: Omit<Announcement, 'updates'> & { updates: readonly NewUpdate[] }; at: number };

/**
 * Result of an event: the changed announcement or subscriber, or the reason why nothing has changed. `crowded`: the
 * page has the maximum number of open announcements. `left`: the address has left the page since the confirmation link
 * was sent.
 */
type PageOutcome = Announcement | Subscriber | 'missing' | 'full' | 'crowded' | 'left' | undefined;

/** Entry of a snapshot. */
export type PageSnapshotEntry = { lastNumber: number } | Announcement | Subscriber | Departure;

/**
 * Departure of an address from a page, or of all addresses from a deleted page, in Unix milliseconds. The address and
 * the page are stored only as a hash.
 */
interface Departure {
  left: string;
  at: number;
}

/** Milliseconds for which departures are remembered. Confirmation links are valid for as long. */
export const confirmationMs = dayMs;

const entriesTogether = 100;

/** Announcements and subscribers of all pages. */
export class PagesFold implements ProjectionState<PageOutcome> {
  readonly #announcements = new Map<string, Announcement>();
  readonly #subscribers = new Map<string, Subscriber>();
  /** Times of departures by hash. */
  readonly #departures = new Map<string, number>();
  readonly #onDamage: OnDamage;
  #lastNumber = 0;

  /** `onDamage` receives a description of each damaged snapshot entry. */
  constructor(onDamage: OnDamage) {
    this.#onDamage = onDamage;
  }

  findAnnouncement(id: string): Announcement | undefined {
    return this.#announcements.get(id);
  }

  /** Returns all announcements, newest first. */
  listAnnouncements(): Announcement[] {
    return [...this.#announcements.values()].reverse();
  }

  findSubscriber(id: string): Subscriber | undefined {
    return this.#subscribers.get(id);
  }

  /** Returns all subscribers, oldest first. */
  listSubscribers(): readonly Subscriber[] {
    return [...this.#subscribers.values()];
  }

  /** True if the address has left the page, or the page was deleted, since a time in Unix milliseconds. */
  hasLeftSince(page: string, address: string, since: number): boolean {
    return [address, everybody].some(
      (leaving) => (this.#departures.get(toDepartureHash(page, leaving)) ?? Number.NEGATIVE_INFINITY) >= since,
    );
  }

  /** True if departures can be forgotten, because confirmation links from before them have expired. */
  hasExpiredDepartures(now: number): boolean {
    return [...this.#departures.values()].some((at) => at <= now - confirmationMs);
  }

  fold(record: StoredRecord): PageOutcome {
    const event = parsePageEvent(record);
    switch (event?.type) {
      case 'announced':
        return this.#announce({ ...event.announcement, state: event.update.state, updates: [] }, [event.update]);
      case 'imported':
        return this.#announce({ ...event.announcement, updates: [] }, event.announcement.updates);
      case 'updated':
        return this.#update(event.announcement, event.update);
      case 'subscribed':
        return this.#subscribe(event.subscriber, event.askedAt);
      case 'unsubscribed':
        return this.#unsubscribe(event.subscriber, event.at);
      case 'departed':
        this.#noteDeparture(event);
        return undefined;
      case 'mailed':
        for (const id of event.subscribers) {
          const known = this.#subscribers.get(id);
          if (known && known.through < event.through) this.#subscribers.set(id, { ...known, through: event.through });
        }
        return undefined;
      case 'forgotten':
        return this.#forget(event.page, event.at);
      case 'expired':
        for (const [left, at] of this.#departures) if (at <= event.at - confirmationMs) this.#departures.delete(left);
        return undefined;
      default:
        return undefined;
    }
  }

  *save(): Iterable<readonly PageSnapshotEntry[]> {
    yield [{ lastNumber: this.#lastNumber }];
    const departures = Array.from(this.#departures, ([left, at]): Departure => ({ left, at }));
    const entries = [...this.#announcements.values(), ...this.#subscribers.values(), ...departures];
    for (let at = 0; at < entries.length; at += entriesTogether) yield entries.slice(at, at + entriesTogether);
  }

  /** Adds an entry unless it is damaged. Also raises the last number, in case the entry that contains it is lost. */
  restore(entry: unknown): void {
    if (isNumberEntry(entry)) {
      this.#raiseNumber((entry as { lastNumber: number }).lastNumber);
    } else if (isAnnouncement(entry)) {
      const saved = entry as Announcement;
      this.#announcements.set(saved.id, saved);
      this.#raiseNumber(Math.max(...saved.updates.map(({ number }) => number)));
    } else if (isSubscriber(entry)) {
      const saved = entry as Subscriber;
      this.#subscribers.set(saved.id, saved);
      this.#raiseNumber(saved.through);
    } else if (isDeparture(entry)) {
      const saved = entry as Departure;
      this.#departures.set(saved.left, saved.at);
    } else this.#onDamage('an entry is not valid');
  }

  #raiseNumber(number: number): void {
    this.#lastNumber = Math.max(this.#lastNumber, number);
  }

  /** Adds an announcement. At the limit, the oldest resolved announcement is removed. */
  #announce(announcement: Announcement, updates: readonly NewUpdate[]): PageOutcome {
    const all = [...this.#announcements.values()];
    if (announcement.state !== 'resolved' && this.#hasMaxOpen(announcement.page)) return 'crowded';
    if (all.length >= maxAnnouncements) {
      const oldest = all.find(({ state }) => state === 'resolved');
      if (!oldest) return 'full';
      this.#announcements.delete(oldest.id);
    }
    const numbered = updates.map((update) => this.#number(update));
    const added = { ...announcement, updates: numbered };
    this.#announcements.set(added.id, added);
    return added;
  }

  #update(id: string, update: NewUpdate): PageOutcome {
    const known = this.#announcements.get(id);
    if (!known) return 'missing';
    if (known.updates.length >= maxUpdates) return 'full';
    const isReopened = known.state === 'resolved' && update.state !== 'resolved';
    if (isReopened && this.#hasMaxOpen(known.page)) return 'crowded';
    const changed = { ...known, state: update.state, updates: [...known.updates, this.#number(update)] };
    this.#announcements.set(id, changed);
    return changed;
  }

  #hasMaxOpen(page: string): boolean {
    const open = this.listAnnouncements().filter((one) => one.page === page && one.state !== 'resolved');
    return open.length >= maxOpen;
  }

  #number(update: NewUpdate): AnnouncementUpdate {
    this.#lastNumber += 1;
    return { ...update, number: this.#lastNumber };
  }

  #subscribe({ id, page, address, at }: Omit<Subscriber, 'through'>, askedAt?: number): PageOutcome {
    if (askedAt !== undefined && this.hasLeftSince(page, address, askedAt)) return 'left';
    const all = this.listSubscribers();
    const same = all.find((one) => one.page === page && one.address.toLowerCase() === address.toLowerCase());
    if (same) return same;
    const ofPage = all.filter((one) => one.page === page);
    if (ofPage.length >= maxSubscribers || all.length >= maxAllSubscribers) return 'full';
    // The clocks of instances can differ. A later departure must not precede the confirmation link.
    const added = { id, page, address, at: Math.max(at, askedAt ?? at), through: this.#lastNumber };
    this.#subscribers.set(id, added);
    return added;
  }

  #unsubscribe(id: string, at: number): PageOutcome {
    const known = this.#subscribers.get(id);
    if (!known) return 'missing';
    this.#subscribers.delete(id);
    this.#depart(known.page, known.address, Math.max(at, known.at));
    return undefined;
  }

  #forget(page: string, at: number): undefined {
    for (const [id, one] of this.#announcements) if (one.page === page) this.#announcements.delete(id);
    const subscribers = this.listSubscribers().filter((one) => one.page === page);
    for (const { id } of subscribers) this.#subscribers.delete(id);
    this.#depart(page, everybody, Math.max(at, ...subscribers.map((one) => one.at)));
  }

  #depart(page: string, address: string, at: number): void {
    this.#noteDeparture({ left: toDepartureHash(page, address), at });
  }

  /** Stores a departure. The clocks of instances can differ, so a later departure may have an earlier time. */
  #noteDeparture({ left, at }: Departure): void {
    this.#departures.set(left, Math.max(at, this.#departures.get(left) ?? at));
  }
}

/** Stands for all addresses. It is not a mail address. */
const everybody = '*';

const toDepartureHash = (page: string, address: string): string =>
  hash('sha256', `${page}/${address.toLowerCase()}`, 'base64url');

const knownTypes: readonly unknown[] = [
  'announced',
  'updated',
  'subscribed',
  'unsubscribed',
  'departed',
  'mailed',
  'forgotten',
  'expired',
  'imported',
] satisfies PageEvent['type'][];

/** Returns the event in a record. Undefined for a type unknown to this version. */
const parsePageEvent = (record: LogRecord): PageEvent | undefined =>
  knownTypes.includes(record['type']) ? (record as unknown as PageEvent) : undefined;
