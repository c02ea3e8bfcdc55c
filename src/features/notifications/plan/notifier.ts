import type { FastifyBaseLogger } from 'fastify';
import { ownSender } from '../../../kit/alert-record.ts';
import { DueTimes } from '../../../kit/due-times.ts';
import type { IncidentNotification, IncidentSource, SharedIncident } from '../../../kit/incident-source.ts';
import { toTimeOrNull, toTimeText } from '../../../kit/route.ts';
import { rankOf } from '../../../kit/severity.ts';
import type { SilenceSource } from '../../../kit/silence-source.ts';
import { Slice } from '../../../lib/slice.ts';
import type { Lease } from '../../../storage/postgres/lease.ts';
import { isReportAbout } from '../queue/failure-reports.ts';
import { ActionQueue } from './action-queue.ts';
import type { Happening, IncidentDestination, NoticeSource } from './incident-destination.ts';
import { type NoticePlan, type PlannedNotice, planNotice } from './plan.ts';

/** The time is looked at so often while something is due later: clocks are set. */
const longestWaitMs = 1000;

/** A clock that is set back by more is noticed: times that were noted may be far in the future then. */
const mostSetBackMs = 10_000;

/** Milliseconds after which something that failed is tried again. */
const retryMs = 1000;

/** Who of those that take turns is to be told; times are Unix milliseconds. */
interface Duty {
  isOnDuty(destination: string, at: number): boolean;
  nextHandoverAfter(at: number): number | undefined;
}

interface NotifierParts {
  source: IncidentSource;
  silences: SilenceSource | undefined;
  duty: Duty;
  lease: Lease;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'error'>;
}

/**
 * Tells destinations of incidents. What is to be told follows from what is stored of an incident and from the time, so this
 * keeps only an index of the incidents with something due; after a restart it is made again.
 */
export class Notifier {
  readonly #parts: NotifierParts;
  /** Those that are not resolved, or with destinations that have not heard of it, by id. */
  readonly #incidents = new Map<string, SharedIncident>();
  /** When the plan of an incident has to be looked at again. */
  readonly #due = new DueTimes();
  /** Those whose plan may change when a silence, or who is on duty, does. */
  readonly #blocked = new Set<string>();
  #destinations: readonly IncidentDestination[] | undefined;
  readonly #actions: ActionQueue;
  /** When time alone changes who is silenced or on duty. */
  #changeAt = Number.POSITIVE_INFINITY;
  /** Until when that holds, by the monotonic clock: to find out takes long where there are many silences. */
  #isKnownUntil = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  /** How far the clock is ahead of the monotonic one. */
  #clockOffset: number;
  readonly #clockTimer: NodeJS.Timeout;
  /** Incidents that have changed and are to be planned again. */
  readonly #changed = new Set<string>();
  #isPlanning = false;
  #isReplanning = false;
  #isOutdated = false;
  #loading: Promise<void> | undefined;
  #isLoaded = false;
  #isClosed = false;

  constructor(parts: NotifierParts) {
    this.#parts = parts;
    this.#actions = new ActionQueue({
      act: (action) => parts.source.act(action),
      onStored: ({ id }, incident) => (incident ? this.#take(incident) : this.#forget(id)),
      onTried: () => void this.#planChanged(),
    });
    this.#clockOffset = this.#now() - performance.now();
    this.#clockTimer = setInterval(() => this.#checkClock(), longestWaitMs).unref();
    parts.source.onChanged((incidents) => {
      for (const incident of incidents) this.#take(incident);
      void this.#planChanged();
    });
    parts.source.onLost(() => this.#loadAgain());
    parts.silences?.onChanged(() => void this.#replanAll());
    parts.lease.onChanged((isHeld) => {
      if (isHeld) this.#load();
      else for (const one of this.#destinations ?? []) one.queue.advance();
    });
  }

  /** Destinations that were added or changed; others are forgotten. */
  setDestinations(destinations: readonly IncidentDestination[]): void {
    this.#destinations = destinations;
    for (const one of destinations) one.start(this.#createSource());
    if (this.#isLoaded) void this.#replanAll();
    else this.#load();
  }

  /** Who is silenced or on duty has changed. */
  noteDuty(): void {
    void this.#replanAll();
  }

  /** The last and next notification of an incident to each destination. */
  describe(incident: SharedIncident): IncidentNotification[] {
    const destinations = this.#destinations ?? [];
    const names = destinations.map(({ name }) => name);
    const gone = Object.keys(incident.notices).filter((name) => !names.includes(name));
    return [
      ...destinations.flatMap((destination) => {
        const last = toLast(incident, destination.name);
        const next = this.#describeNext(incident, destination);
        return last || next ? [{ destination: destination.name, last, next }] : [];
      }),
      ...gone.map((name) => ({ destination: name, last: toLast(incident, name), next: null })),
    ];
  }

  /** The next notifications of these incidents, and of those for which one is due first. */
  listPlanned(
    ids: readonly string[],
    most: number,
  ): { incident: SharedIncident; notifications: IncidentNotification[] }[] {
    const listed = new Set([...ids, ...this.#due.list(most).map(({ id }) => id), ...this.#blocked]);
    return [...listed].slice(0, most).flatMap((id) => {
      const incident = this.#incidents.get(id);
      return incident ? [{ incident, notifications: this.describe(incident) }] : [];
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#actions.close();
    clearTimeout(this.#timer);
    clearInterval(this.#clockTimer);
    await this.#loading;
  }

  #createSource(): NoticeSource {
    return {
      maySend: () => this.#isLoaded && this.#parts.lease.isHeld(),
      prepare: (destination, id) => this.#prepare(destination, id),
      note: (id, delivery) => this.#actions.add({ type: 'notify', id, by: ownSender, ...delivery }),
      noteAttempt: (id, destination) => this.#actions.add({ type: 'attempt', id, by: ownSender, destination }),
      replan: (destination, id) => {
        const incident = this.#incidents.get(id);
        if (incident) this.#planOne(incident, destination);
        this.#wait();
      },
    };
  }

  /** Reads what is to be told, until that has worked. */
  #load(): void {
    if (!this.#destinations || this.#isClosed) return;
    this.#loading ??= this.#read()
      .then(() => {
        this.#isLoaded = true;
        return this.#replanAll();
      })
      .catch((err: unknown) => {
        this.#parts.log.error({ err }, 'notifications: incidents cannot be read at the moment');
        if (!this.#isClosed) setTimeout(() => this.#load(), retryMs).unref();
      })
      .finally(() => {
        this.#loading = undefined;
      });
  }

  /** What is known may never have happened, and reading that begins now has nothing of it. */
  #loadAgain(): void {
    for (const id of [...this.#incidents.keys()]) this.#forget(id);
    void Promise.resolve(this.#loading).then(() => this.#load());
  }

  async #read(): Promise<void> {
    for await (const incidents of this.#parts.source.listUnsettled()) {
      if (this.#isClosed) return;
      for (const incident of incidents) this.#keep(incident);
    }
  }

  /** Returns whether the incident is not older than what is known of it. */
  #keep(incident: SharedIncident): boolean {
    const { id, state, notices, change } = incident;
    const known = this.#incidents.get(id);
    if (known && change < known.change) return false;
    if (state === 'resolved' && Object.keys(notices).length === 0) {
      if (known) this.#forget(id);
    } else this.#incidents.set(id, incident);
    return true;
  }

  #forget(id: string): void {
    this.#incidents.delete(id);
    this.#due.set(id, Number.POSITIVE_INFINITY);
    this.#blocked.delete(id);
    for (const one of this.#destinations ?? []) one.forget(id);
  }

  #take(incident: SharedIncident): void {
    const known = this.#incidents.get(incident.id);
    if (!this.#keep(incident) || !this.#isLoaded || !this.#incidents.has(incident.id)) return;
    // Alerts that are only counted, unless a text ends a silence, and what this instance has told change nothing for others.
    const isKnown = known?.version === incident.version && this.#parts.lease.isHeld();
    if (isKnown && !this.#blocked.has(incident.id)) return;
    this.#changed.add(incident.id);
  }

  /** Plans incidents that have changed, or of which something is due; the first ones at once. */
  async #planChanged(): Promise<void> {
    if (this.#isPlanning) return;
    this.#isPlanning = true;
    const slice = new Slice();
    for (const id of this.#takeUnplanned()) {
      const incident = this.#incidents.get(id);
      if (incident) this.#plan(incident);
      // After the last one, too: the next change may come in the same turn of the event loop.
      if (slice.isOver) await this.#giveWay(slice);
      if (this.#isClosed) return;
    }
    this.#isPlanning = false;
    this.#wait();
  }

  /** Incidents of which something is due do not wait for those that have changed, which may be thousands. */
  *#takeUnplanned(): Generator<string> {
    yield* this.#due.take(this.#now());
    for (const id of this.#changed) {
      this.#changed.delete(id);
      yield id;
      yield* this.#due.take(this.#now());
    }
  }

  /** Lets other work run, such as what becomes due meanwhile. */
  async #giveWay(slice: Slice): Promise<void> {
    this.#wait();
    await slice.giveWay();
  }

  /** Plans an incident; one that cannot be planned holds up neither others nor the alerts, and is tried again. */
  #plan(incident: SharedIncident): void {
    try {
      this.#planAll(incident);
    } catch (err) {
      this.#parts.log.error({ err, incident: incident.number }, 'outbox: unexpected error');
      this.#due.set(incident.id, this.#now() + retryMs);
    }
  }

  /** Puts what may be told now into the messages of destinations, and notes when the rest is due. */
  #planAll(incident: SharedIncident): void {
    const { id } = incident;
    const now = this.#now();
    const silencedBy = this.#silencesOf(incident, now);
    const forgotten = Object.keys(incident.notices).filter((name) => !this.#hasDestination(name));
    let next = Number.POSITIVE_INFINITY;
    if (silencedBy.length > 0) this.#blocked.add(id);
    else this.#blocked.delete(id);
    for (const destination of this.#destinations ?? []) {
      const plan = this.#apply(incident, destination, now, silencedBy);
      if (plan === 'forget') forgotten.push(destination.name);
      else if (plan && plan.readyAt > now) next = Math.min(next, plan.readyAt);
    }
    this.#due.set(id, next);
    this.#askToForget(id, forgotten);
    const [silence] = silencedBy;
    const isNews = silence !== undefined && isSilenceNews(incident) && this.#parts.lease.isHeld();
    if (isNews) this.#actions.addOnce({ type: 'silence', id, by: `silence ${silence}` });
  }

  /** The same for one destination, where nothing has changed for others. */
  #planOne(incident: SharedIncident, destination: IncidentDestination): void {
    const { id } = incident;
    const now = this.#now();
    const plan = this.#apply(incident, destination, now);
    if (plan === 'forget') this.#askToForget(id, [destination.name]);
    else if (plan && plan.readyAt > now) this.#due.advance(id, plan.readyAt);
  }

  #apply(
    incident: SharedIncident,
    destination: IncidentDestination,
    now: number,
    silencedBy?: readonly string[],
  ): NoticePlan {
    const plan = this.#planFor(incident, destination, now, silencedBy);
    if (isReady(plan, now)) destination.put(incident, plan);
    else destination.withdraw(incident.id);
    if (isPlanned(plan) && plan.waitsFor === 'offDuty') this.#blocked.add(incident.id);
    return plan;
  }

  #askToForget(id: string, destinations: readonly string[]): void {
    if (destinations.length > 0 && this.#parts.lease.isHeld()) {
      this.#actions.addOnce({ type: 'forget', id, by: ownSender, destinations });
    }
  }

  #planFor(
    incident: SharedIncident,
    destination: IncidentDestination,
    now: number,
    silencedBy = this.#silencesOf(incident, now),
  ): NoticePlan {
    const { name, target } = destination;
    const last = incident.notices[name];
    // A destination that fails is not told about that.
    if (isReportAbout(incident.sender, incident.about, name)) return last && 'forget';
    // It is known not to have been told.
    if (last?.isPending && incident.state === 'resolved' && destination.hasFailed(incident.id)) return 'forget';
    const isOnDuty = this.#parts.duty.isOnDuty(name, now);
    const circumstances = { now, isOnDuty, isSilenced: silencedBy.length > 0 };
    return planNotice(incident, last, target.rules, circumstances);
  }

  #prepare(destination: IncidentDestination, id: string): Happening | undefined {
    const incident = this.#incidents.get(id);
    if (!incident || !this.#parts.lease.isHeld()) return undefined;
    const now = this.#now();
    const plan = this.#planFor(incident, destination, now);
    return isReady(plan, now) ? { ...plan, incident } : undefined;
  }

  #describeNext(incident: SharedIncident, destination: IncidentDestination): IncidentNotification['next'] {
    const now = this.#now();
    const plan = this.#planFor(incident, destination, now);
    if (!isPlanned(plan)) return null;
    const { what, dueAt, waitsFor } = plan;
    const { attempts = 0, error = null, nextAttempt } = destination.describe(incident.id) ?? {};
    const at = nextAttempt ?? dueAt;
    return {
      what,
      attempts,
      error,
      dueAt: toTimeOrNull(at),
      waitsFor: waitsFor === 'grouping' && dueAt <= now ? 'receiver' : waitsFor,
    };
  }

  #hasDestination(name: string): boolean {
    return this.#destinations?.some((one) => one.name === name) === true;
  }

  #silencesOf({ source, hostname, level, title, labels }: SharedIncident, now: number): readonly string[] {
    return this.#parts.silences?.silencesOf({ source, hostname, level, text: title, labels }, now) ?? [];
  }

  /** Plans all again, and once more where something changes meanwhile: many changes in a row cost no more than two. */
  async #replanAll(): Promise<void> {
    this.#isKnownUntil = Number.NEGATIVE_INFINITY;
    this.#changeAt = Number.POSITIVE_INFINITY;
    this.#isOutdated = true;
    // The next silence may end, or shift begin, while all are planned.
    this.#wait();
    if (this.#isReplanning) return;
    this.#isReplanning = true;
    try {
      const slice = new Slice();
      while (this.#isOutdated && !this.#isClosed) {
        this.#isOutdated = false;
        for (const id of [...this.#incidents.keys()]) {
          const incident = this.#incidents.get(id);
          if (incident) this.#plan(incident);
          if (slice.isOver) await this.#giveWay(slice);
          if (this.#isClosed) return;
        }
        for (const one of this.#destinations ?? []) one.queue.advance();
        this.#wait();
      }
    } finally {
      this.#isReplanning = false;
    }
  }

  #checkClock(): void {
    const offset = this.#now() - performance.now();
    if (offset < this.#clockOffset - mostSetBackMs && this.#isLoaded) void this.#replanAll();
    this.#clockOffset = offset;
  }

  /** Looks again when the next plan is due, or who is silenced or on duty changes. */
  #wait(): void {
    if (this.#isClosed || !this.#isLoaded) return;
    const now = this.#now();
    // A change that is due stays the next one until all are planned again.
    if (this.#changeAt > now && performance.now() >= this.#isKnownUntil) {
      this.#isKnownUntil = performance.now() + longestWaitMs;
      this.#changeAt = this.#findChange(now);
    }
    const at = Math.min(this.#due.first ?? Number.POSITIVE_INFINITY, this.#changeAt);
    clearTimeout(this.#timer);
    if (at === Number.POSITIVE_INFINITY) return;
    this.#timer = setTimeout(() => this.#look(), Math.max(0, Math.min(at - now, longestWaitMs)));
  }

  #findChange(now: number): number {
    const { silences, duty, log } = this.#parts;
    try {
      const times = [silences?.nextChangeAfter(now), duty.nextHandoverAfter(now)];
      return Math.min(...times.filter((at) => at !== undefined));
    } catch (err) {
      log.error({ err }, 'outbox: unexpected error');
      return now + retryMs;
    }
  }

  #look(): void {
    void (this.#changeAt <= this.#now() ? this.#replanAll() : this.#planChanged());
  }

  #now(): number {
    return this.#parts.clock().getTime();
  }
}

const isPlanned = (plan: NoticePlan): plan is PlannedNotice => plan !== undefined && plan !== 'forget';

/** Whether it may be part of a message now. */
const isReady = (plan: NoticePlan, now: number): plan is PlannedNotice => isPlanned(plan) && plan.readyAt <= now;

const toLast = ({ notices }: SharedIncident, destination: string): IncidentNotification['last'] => {
  const notice = notices[destination];
  return notice && !notice.isPending ? { what: notice.what, level: notice.level, at: toTimeText(notice.at) } : null;
};

/** Whether the timeline does not say yet that a silence keeps it quiet, since it became open or was raised. */
const isSilenceNews = ({ isOld, state, silenced, openings, level }: SharedIncident): boolean =>
  !isOld && state === 'open' && (silenced?.opening !== openings || rankOf(level) < rankOf(silenced.level));
