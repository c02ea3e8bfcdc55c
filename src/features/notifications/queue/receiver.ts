import type { FastifyBaseLogger } from 'fastify';
import { parseRetryAfter } from '../../../client/retry-after.ts';
import { markResolved, ownSender } from '../../../kit/alert-record.ts';
import type { AlertSource } from '../../../kit/offers.ts';
import type { DeliveryProgress, FailingSpell, Notice, ReceiverMemory } from '../forwarder/progress.ts';

/** Seconds to wait after the first failed attempts. */
const firstSeconds = [1, 2, 5, 10, 20, 30];

const minute = 60;
const hour = 60 * minute;

/** Attempts that are a minute apart, until about an hour has passed; later ones are five minutes apart. */
const minuteAttempts = 60;

/**
 * Seconds to wait after requests without a response, whose receiver may have the message: few repeats, and late ones, since
 * each may reach people again.
 */
const unansweredSeconds = [2 * minute, 10 * minute, 30 * minute];

/** The share of a wait that chance adds, so that many senders do not come back together. */
const jitter = 0.1;

/** A receiver can ask for at most this many seconds. */
const longestAsked = 24 * hour;

/** Where `retrySeconds` replace the waits, a destination that the receiver refuses is tried no more often than this. */
const leastRejectedSeconds = 1;

/** A destination that fails for this long is reported as failing, or for this share of the promise if that is less. */
const failingMs = 15 * minute * 1000;
const failingShare = 0.1;

const defaultGiveUpHours = 24;

/** What became of an attempt. */
export type DeliveryOutcome =
  | { kind: 'delivered' }
  /** The receiver refuses this alert for good. */
  | { kind: 'refused'; reason: string }
  /** The receiver refuses what this destination sends: a wrong address or token, or else a rule against this alert. */
  | { kind: 'rejected'; reason: string }
  /**
   * Try again, after `seconds` at the earliest. `mayBeAlert`: another alert may be accepted meanwhile. `isUnanswered`: the
   * receiver may have this one.
   */
  | { kind: 'failed'; reason: string; seconds: number; mayBeAlert: boolean; isUnanswered?: boolean };

/** 414 and 431: the texts of the alert make the address or the headers too long. */
const refusals = new Set([400, 413, 414, 422, 431]);

/** A proxy, or Cloudflare, had no response of the receiver in time. */
const gatewayTimeouts = new Set([504, 524]);

/** Timeouts and limits. */
const temporary = new Set([408, 425, 429]);

/** What a response of the receiver means. `retryAfter` is the header's text. */
export const toDeliveryOutcome = (status: number, retryAfter: string | undefined, now: Date): DeliveryOutcome => {
  const reason = `the receiver responded ${status}`;
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  if (refusals.has(status)) return { kind: 'refused', reason };
  if (status < 500 && !temporary.has(status)) return { kind: 'rejected', reason };
  const isBusy = status === 429 || status === 503;
  const asked = isBusy ? (parseRetryAfter(retryAfter, now.getTime()) ?? 0) : 0;
  const isUnanswered = gatewayTimeouts.has(status);
  const seconds = Math.min(asked, longestAsked);
  return { kind: 'failed', reason, seconds, mayBeAlert: !isBusy, ...(isUnanswered && { isUnanswered }) };
};

export type Schedule = ReturnType<typeof createSchedule>;

/** When a destination tries again, and when it gives up: by the hours of the promise, or after `retrySeconds`. */
export const createSchedule = ({
  retrySeconds,
  giveUpHours,
}: {
  retrySeconds?: readonly number[];
  giveUpHours?: number;
}) => {
  const giveUpMs = toGiveUpSeconds(retrySeconds, giveUpHours) * 1000;
  const lastSeconds = retrySeconds?.at(-1) ?? 0;
  return {
    /** Milliseconds to wait after so many failed attempts, with some chance in them. */
    waitAfter: (attempts: number): number =>
      toWait(retrySeconds ? (retrySeconds[attempts - 1] ?? lastSeconds) : toUsualSeconds(attempts)),
    /** The same for one that the receiver may have. */
    waitAfterUnanswered: (attempts: number): number =>
      toWait(retrySeconds ? (retrySeconds[attempts - 1] ?? lastSeconds) : (unansweredSeconds[attempts - 1] ?? hour)),
    /** The same, if the receiver refuses the destination. */
    waitAfterRejected: (attempts: number): number =>
      toWait(
        retrySeconds
          ? Math.max(lastSeconds, leastRejectedSeconds)
          : toUsualSeconds(Math.max(attempts, firstSeconds.length + 1)),
      ),
    /** An alert with so many failed attempts is given up, and one that waits for so many milliseconds. */
    mostAttempts: retrySeconds ? retrySeconds.length + 1 : Number.POSITIVE_INFINITY,
    giveUpMs,
    /** After so many milliseconds without a delivery a destination is failing. */
    failingMs: Math.min(failingMs, giveUpMs * failingShare),
  };
};

/** Long `retrySeconds` make the promise longer, unless it is set. */
const toGiveUpSeconds = (retrySeconds: readonly number[] = [], giveUpHours?: number): number => {
  if (giveUpHours !== undefined) return giveUpHours * hour;
  const longest = retrySeconds.reduce((sum, seconds) => sum + seconds, 0) * (1 + jitter);
  return Math.max(defaultGiveUpHours * hour, longest);
};

const toUsualSeconds = (attempts: number): number =>
  firstSeconds[attempts - 1] ?? (attempts <= firstSeconds.length + minuteAttempts ? minute : 5 * minute);

const toWait = (seconds: number): number => seconds * 1000 * (1 + Math.random() * jitter);

export type FailedOutcome = Extract<DeliveryOutcome, { kind: 'failed' | 'rejected' }>;

/** A time in which nothing is delivered; times without a name for their unit are of the monotonic clock. */
interface Trouble {
  /** Unix milliseconds. */
  since: number;
  failures: number;
  isRejected: boolean;
  /** When the next regular attempt is due, and when the next one may run. */
  dueAt: number;
  openAt: number;
  /** Nothing may be sent before: the receiver has asked for that. */
  notBefore: number;
  /** It was asked before the regular attempt was due; that is done once between two regular attempts. */
  isEarly: boolean;
}

interface ReceiverParts {
  name: string;
  schedule: Schedule;
  progress: DeliveryProgress;
  clock: () => Date;
  log: FastifyBaseLogger;
}

/** Whether the receiver accepts alerts, when it may be asked again, and how deliveries went since startup. */
export class ReceiverState {
  lastSuccess: Date | undefined;
  lastError: { time: Date; reason: string } | undefined;
  /** How often each outcome was. */
  readonly outcomes: Record<DeliveryOutcome['kind'], number> = { delivered: 0, failed: 0, refused: 0, rejected: 0 };
  readonly #parts: ReceiverParts;
  #trouble: Trouble | undefined;
  /** The last attempt was in vain. */
  #isBad: boolean;

  constructor(parts: ReceiverParts) {
    this.#parts = parts;
    const { failing, notBefore = 0 } = parts.progress.receiver;
    this.#isBad = failing !== undefined;
    // The clock may have been wrong when this was written.
    const wait = Math.min(notBefore - parts.clock().getTime(), longestAsked * 1000);
    if (wait > 0) this.#trouble = { ...this.#createTrouble(), openAt: performance.now() + wait };
  }

  get failing(): FailingSpell | undefined {
    return this.#parts.progress.receiver.failing;
  }

  /** Since when nothing is delivered, in Unix milliseconds; undefined if the last attempt succeeded. */
  get troubleSince(): number | undefined {
    return this.#trouble?.since;
  }

  /** How many attempts in a row were in vain. */
  get failures(): number {
    return this.#trouble?.failures ?? 0;
  }

  /** Milliseconds until it may be asked again. */
  get waitMs(): number {
    return this.#trouble ? Math.max(0, this.#trouble.openAt - performance.now()) : 0;
  }

  /**
   * Notes what became of an attempt that began after so many failures; returns whether it ended a trouble. `isOwn`: the
   * failure is known to be about the alert.
   */
  note(outcome: DeliveryOutcome, { failuresBefore, isOwn }: { failuresBefore: number; isOwn: boolean }): boolean {
    this.outcomes[outcome.kind] += 1;
    if (outcome.kind === 'delivered') return this.#noteDelivered();
    const { reason } = outcome;
    this.lastError = { time: this.#parts.clock(), reason };
    if (outcome.kind === 'refused' || isOwn) {
      this.#warn(reason);
      return outcome.kind === 'refused' && this.#endTrouble();
    }
    // Attempts that ran side by side count as one.
    this.#trouble ??= this.#createTrouble();
    if (this.failures === failuresBefore) this.#addFailure(this.#trouble, outcome);
    const since = this.#noteTrouble(this.#trouble.since);
    if (outcome.kind === 'rejected' || this.#now() - since >= this.#parts.schedule.failingMs) this.#fail(since, reason);
    else this.#warn(reason);
    return false;
  }

  /** The host is known to be reachable: the next attempt may run now, if the receiver was not; returns whether it may. */
  hurry(): boolean {
    const trouble = this.#trouble;
    const now = performance.now();
    if (!trouble || trouble.isRejected || trouble.isEarly || trouble.notBefore > now) return false;
    trouble.isEarly = true;
    trouble.openAt = now;
    return true;
  }

  /** The next attempt may run now, or when the receiver has asked for it, and the waits begin again. */
  resetWaits({ ignoresRetryAfter }: { ignoresRetryAfter: boolean }): void {
    if (!this.#trouble) return;
    this.#trouble.failures = 0;
    this.#trouble.openAt = ignoresRetryAfter ? 0 : this.#trouble.notBefore;
  }

  #noteDelivered(): boolean {
    const { name, log, clock } = this.#parts;
    this.lastSuccess = clock();
    if (this.#isBad) log.info({ destination: name }, 'outbox: alerts are delivered again');
    this.#isBad = false;
    if (this.failing) this.#remember({ failing: undefined });
    return this.#endTrouble();
  }

  #endTrouble(): boolean {
    const wasInTrouble = this.#trouble !== undefined;
    this.#trouble = undefined;
    const { notBefore, troubleSince } = this.#parts.progress.receiver;
    if (notBefore !== undefined || troubleSince !== undefined)
      this.#remember({ notBefore: undefined, troubleSince: undefined });
    return wasInTrouble;
  }

  /** Since when nothing is delivered, also before the last restart. */
  #noteTrouble(since: number): number {
    const { troubleSince = since } = this.#parts.progress.receiver;
    // The clock may have been ahead when it was noted.
    const first = Math.min(since, troubleSince);
    this.#remember({ troubleSince: first });
    return first;
  }

  #addFailure(trouble: Trouble, outcome: FailedOutcome): void {
    const now = performance.now();
    const isRejected = outcome.kind === 'rejected';
    trouble.isRejected = isRejected;
    if (!trouble.isEarly || trouble.dueAt <= now) {
      trouble.failures += 1;
      trouble.isEarly = false;
      trouble.dueAt = now + this.#waitAfter(trouble.failures, outcome);
    }
    trouble.openAt = trouble.dueAt;
    const asked = isRejected ? 0 : outcome.seconds * 1000;
    if (asked === 0) return;
    trouble.notBefore = now + asked;
    trouble.openAt = Math.max(trouble.openAt, trouble.notBefore);
    this.#remember({ notBefore: this.#now() + asked });
  }

  #waitAfter(failures: number, outcome: FailedOutcome): number {
    const { schedule } = this.#parts;
    const isRejected = outcome.kind === 'rejected';
    // Another alert shows at once whether the failure was about this one.
    if (failures === 1 && (isRejected || outcome.mayBeAlert)) return 0;
    return isRejected ? schedule.waitAfterRejected(failures) : schedule.waitAfter(failures);
  }

  #createTrouble(): Trouble {
    const times = { dueAt: 0, openAt: 0, notBefore: 0 };
    return { since: this.#now(), failures: 0, isRejected: false, isEarly: false, ...times };
  }

  #fail(since: number, reason: string): void {
    const { failing } = this;
    if (failing?.reason === reason) return;
    this.#remember({ failing: { since: failing?.since ?? new Date(since).toISOString(), reason } });
    this.#isBad = true;
    if (failing) return;
    const { name, log } = this.#parts;
    log.warn({ destination: name, reason }, 'outbox: the destination is failing; its alerts wait');
  }

  #warn(reason: string): void {
    const { name, log } = this.#parts;
    if (!this.#isBad) log.warn({ destination: name, reason }, 'outbox: an alert was not delivered');
    this.#isBad = true;
  }

  #remember(changes: { [K in 'failing' | 'notBefore' | 'troubleSince']?: ReceiverMemory[K] | undefined }): void {
    const { progress } = this.#parts;
    const { failing, notBefore, troubleSince, ...others } = { ...progress.receiver, ...changes };
    progress.receiver = {
      ...others,
      ...(failing && { failing }),
      ...(notBefore !== undefined && { notBefore }),
      ...(troubleSince !== undefined && { troubleSince }),
    };
  }

  #now(): number {
    return this.#parts.clock().getTime();
  }
}

/** A destination that fails, works and fails again is reported at most this often. */
const leastNoticeMs = 60 * 60 * 1000;

interface NoticeParts {
  instance: string;
  raise: AlertSource['raise'];
  clock: () => Date;
  log: FastifyBaseLogger;
}

export type Notices = ReturnType<typeof createNotices>;

/** Alerts about destinations that fail, for the other destinations: one when a spell begins and one when it ends. */
export const createNotices = ({ instance, raise, clock, log }: NoticeParts) => {
  /** Whether the log lacks an alert about the receiver, or the end of one. */
  const isOutdated = ({ failing, notice }: ReceiverMemory): boolean => {
    const isOpen = notice !== undefined && !notice.isResolved;
    if (!failing) return isOpen;
    const passed = clock().getTime() - (notice?.at ?? 0);
    // The clock was ahead when the notice was stored, or some time has passed.
    return !isOpen && (passed < 0 || passed >= leastNoticeMs);
  };
  const raiseNext = async (name: string, { failing, notice }: ReceiverMemory): Promise<Notice | undefined> => {
    const about = { fingerprint: toDestinationFingerprint(instance, name), labels: { destination: name } };
    if (failing) {
      const message = `The destination ${name} is failing: ${failing.reason}. Its alerts wait.`;
      const { id } = await raise({ level: 'ERROR', message, status: 'firing', ...about });
      return { id, message, at: clock().getTime(), isResolved: false };
    }
    if (!notice) return undefined;
    const ended = { resolves: notice.id, firingLevel: 'ERROR' };
    await raise({ level: 'INFO', message: markResolved(notice.message), status: 'resolved', ...about, ...ended });
    return { ...notice, isResolved: true };
  };
  return {
    isOutdated,
    /** Stores the alerts that are missing, also for what changes meanwhile. Never rejects. */
    update: async (name: string, progress: DeliveryProgress): Promise<void> => {
      while (isOutdated(progress.receiver)) {
        const notice = await raiseNext(name, progress.receiver).catch((err: unknown) => {
          log.warn({ err, destination: name }, 'outbox: the alert about a failing destination was not stored');
        });
        if (!notice) return;
        progress.receiver = { ...progress.receiver, notice };
      }
    },
  };
};

/** Whether the record is an alert about this destination, which must not get it. */
export const isNoticeOf = ({ sender, fingerprint }: Record<string, unknown>, instance: string, name: string): boolean =>
  sender === ownSender && fingerprint === toDestinationFingerprint(instance, name);

/** Whether an incident, which says who sends its alerts and what they are about, is about this destination at any instance. */
export const isNoticeAbout = (sender: string | null, about: string, name: string): boolean =>
  sender === ownSender && /^signalbox\/[0-9a-f]{16}$/.test(about.replace(toDestinationFingerprint('', name), ''));

const toDestinationFingerprint = (instance: string, name: string): string => `${instance}/destination/${name}`;
