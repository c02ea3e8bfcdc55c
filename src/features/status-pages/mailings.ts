import type { FastifyBaseLogger } from 'fastify';
import type { MailOutcome, NotificationSource } from '../../kit/offers.ts';
import { createSerial } from '../../lib/scheduling.ts';
import { dayMs, minuteMs } from '../../lib/units.ts';
import type { Lease } from '../../storage/postgres/lease.ts';
import type { Announcement, AnnouncementUpdate } from './announcement.ts';
import type { Subscriber } from './fold.ts';
import type { KnownPage, PageKeeper } from './kind.ts';
import type { PageStore } from './store.ts';
import { wordsOf } from './words.ts';

/** Milliseconds between checks for due mails. */
const lookMs = 1000;

/** Milliseconds of the first and the longest pause after failures. */
const firstPauseMs = 10_000;
const longestPauseMs = 10 * minuteMs;

/** Milliseconds after which an update is too old to be mailed. */
const giveUpMs = dayMs;

/** Number of consecutive failures, apart from deferred mails, after which the server counts as unreachable. */
const maxFailures = 3;

/** Number of mails after which the progress is stored. After a kill, at most this many mails are sent twice. */
const storedTogether = 20;

interface MailingParts {
  store: PageStore;
  keeper: PageKeeper;
  mailer: NotificationSource['mailer'];
  /** True while readers can subscribe by mail and follow the links in mails. */
  hasMail(): boolean;
  lease: Pick<Lease, 'isHeld'>;
  /** Returns the URL of a page. */
  toUrl(page: string): string;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'warn'>;
}

/** Mails updates of announcements to subscribers, in order. Continues after a restart. */
export class Mailings {
  readonly #parts: MailingParts;
  readonly #serially = createSerial();
  /** True if updates may be due, because something has changed or mails have failed. */
  #isDue = true;
  #pauseMs = 0;
  #restsUntil = 0;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: MailingParts) {
    this.#parts = parts;
    parts.store.onChanged(() => {
      this.#isDue = true;
    });
  }

  start(): void {
    this.#timer = setInterval(() => {
      const { store, hasMail, lease } = this.#parts;
      if (!this.#isDue || performance.now() < this.#restsUntil) return;
      if (!hasMail() || !lease.isHeld() || !store.isReady) return;
      this.#isDue = false;
      void this.#serially(() => this.#send()).catch((err: unknown) => {
        this.#parts.log.warn({ err }, 'status pages: emails to subscribers cannot be sent');
        this.#rest();
      });
    }, lookMs).unref();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#serially(async () => undefined);
  }

  /** Sends due mails one after another. */
  async #send(): Promise<void> {
    const { store, keeper, lease, clock } = this.#parts;
    // The previous holder of the lease may have mailed updates.
    await store.catchUp();
    const subscribers = new Map<string, Set<string>>();
    for (const { page, id } of store.state.listSubscribers()) {
      const known = subscribers.get(page);
      if (known) known.add(id);
      else subscribers.set(page, new Set([id]));
    }
    let failures = 0;
    let hasFailed = false;
    for (const { announcement, update } of this.#listUpdates()) {
      const page = keeper.find(announcement.page);
      const left = subscribers.get(announcement.page) ?? new Set();
      const isOld = update.at < clock().getTime() - giveUpMs;
      let done: string[] = [];
      for (const id of left) {
        // Readers may have unsubscribed in the meantime.
        const subscriber = store.state.findSubscriber(id);
        if (this.#isClosed || !lease.isHeld() || failures >= maxFailures || !page) break;
        if (!subscriber || subscriber.through >= update.number) continue;
        const outcome = isOld ? 'refused' : await this.#mail(page, subscriber, announcement, update);
        if (outcome === 'failed' || outcome === 'deferred') {
          failures = outcome === 'failed' ? failures + 1 : 0;
          hasFailed = true;
          // Later updates for this subscriber wait until this one has been sent.
          left.delete(id);
          continue;
        }
        failures = 0;
        done.push(id);
        if (done.length < storedTogether) continue;
        await this.#note(done, update.number);
        done = [];
      }
      if (done.length > 0) await this.#note(done, update.number);
    }
    // The next holder of the lease, possibly this instance, sends the rest.
    if (!lease.isHeld()) this.#isDue = true;
    if (hasFailed) this.#rest();
    else this.#pauseMs = 0;
  }

  /** Lists all updates, ordered by number. */
  #listUpdates(): { announcement: Announcement; update: AnnouncementUpdate }[] {
    return this.#parts.store.state
      .listAnnouncements()
      .flatMap((announcement) => announcement.updates.map((update) => ({ announcement, update })))
      .sort((one, other) => one.update.number - other.update.number);
  }

  #rest(): void {
    this.#isDue = true;
    this.#pauseMs = Math.min(longestPauseMs, Math.max(firstPauseMs, 2 * this.#pauseMs));
    this.#restsUntil = performance.now() + this.#pauseMs;
  }

  async #note(subscribers: readonly string[], through: number): Promise<void> {
    await this.#parts.store.note({ type: 'mailed', subscribers, through, at: this.#parts.clock().getTime() });
  }

  #mail(
    { name, values }: KnownPage,
    { id, address }: Subscriber,
    { title }: Announcement,
    { number, state, text }: AnnouncementUpdate,
  ): Promise<MailOutcome> {
    const url = this.#parts.toUrl(name);
    const leaveUrl = `${url}/subscribe/${id}`;
    const { states, mail } = wordsOf[values.language ?? 'en'];
    return this.#parts.mailer.send({
      id: `status.${number}.${id}`,
      to: address,
      subject: `[${values.title}] ${states[state]}: ${title}`,
      text: `${text}\n\n${url}\n\n--\n${mail.leave}: ${leaveUrl}\n`,
      headers: {
        'List-Unsubscribe': `<${leaveUrl}>`,
        // RFC 8058: mail programs can unsubscribe with one click.
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      },
    });
  }
}
