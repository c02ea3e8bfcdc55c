import type { FastifyBaseLogger } from 'fastify';
import type { AlertSource } from '../../kit/alert-source.ts';
import { DueTimes } from '../../kit/due-times.ts';
import { StoreUnavailable } from '../../lib/expected-errors.ts';
import { createWaitForTurn, Slice } from '../../lib/slice.ts';
import type { Lease } from '../../storage/postgres/lease.ts';
import type { HeartbeatState } from './heartbeat-state.ts';
import { type Judgement, judgeHeartbeat } from './judge.ts';
import type { HeartbeatKeeper } from './keeper.ts';
import type { KnownHeartbeat } from './kind.ts';
import type { LastAlive } from './last-alive.ts';
import { OutageRecorder } from './outage-recorder.ts';
import { reconcileAlerts } from './reconcile.ts';
import { type ExpectedRecord, findStep } from './steps.ts';
import type { HeartbeatStore } from './store.ts';

/** Longest wait between two clock checks, in milliseconds. */
const maxWaitMs = 60_000;

/** Milliseconds before a failed step is retried. */
const retryMs = 5000;

/** Milliseconds between two log lines about failures. */
const warnMs = 60_000;

/** Step that had no effect, with the state and the definition that it was based on. */
interface VainStep {
  state: HeartbeatState | undefined;
  known: KnownHeartbeat | undefined;
  at: number;
}

interface AlerterParts {
  store: HeartbeatStore;
  alive: LastAlive;
  keeper: HeartbeatKeeper;
  lease: Pick<Lease, 'isHeld' | 'onChanged'>;
  alerts: Pick<AlertSource, 'raise' | 'listRaised'>;
  /** Milliseconds after startup during which the definition of an existing heartbeat may still be missing. */
  patienceMs: number;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'warn'>;
}

/**
 * Finds heartbeats that are down, and raises and resolves their alerts. Uses a single timer. Of several instances, only
 * one does this work.
 */
export class HeartbeatAlerter {
  readonly #parts: AlerterParts;
  readonly #outages: OutageRecorder;
  readonly #due = new DueTimes();
  /** Heartbeats with a step in progress. */
  readonly #busy = new Set<string>();
  readonly #vain = new Map<string, VainStep>();
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #startedAt = 0;
  #warnedAt = Number.NEGATIVE_INFINITY;
  /** True once the states agree with the log of alerts. */
  #knowsRaised = false;
  /** True if the last check of all heartbeats did not complete. */
  #isAllDue = false;
  #isClosed = false;
  /** Yields to requests. Thousands of simultaneous alerts must not delay them. */
  readonly #waitForTurn = createWaitForTurn();
  #working: Promise<void> = Promise.resolve();
  readonly #listeners: ((name: string) => void)[] = [];
  /** Definitions at the time of the last check. */
  #checked: ReadonlyMap<string, KnownHeartbeat> = new Map();

  constructor(parts: AlerterParts) {
    this.#parts = parts;
    const { store, alive, keeper, lease } = parts;
    this.#outages = new OutageRecorder({ store, alive, isMissed: (from, until) => this.#isMissed(from, until) });
    store.onChanged((name) => {
      if (name === '') this.#working = this.#working.then(() => this.#checkAll()).catch((err) => this.#retry(err));
      else this.#check(name);
    });
    keeper.onChanged(() => this.#checkChanged());
    lease.onChanged(() => {
      this.#knowsRaised = false;
      if (this.#outages.hasBegun) void this.look();
    });
  }

  /** True once the outage before startup has been recorded. */
  get hasBegun(): boolean {
    return this.#outages.hasBegun;
  }

  start(): void {
    this.#startedAt = this.#now();
    void this.look();
  }

  /** Checks the clock immediately. */
  look(): Promise<void> {
    this.#working = this.#working.then(() => this.#wake());
    return this.#working;
  }

  /** Resolves when no step is in progress. */
  async settle(): Promise<void> {
    for (let working: Promise<void> | undefined; working !== this.#working; await working) working = this.#working;
  }

  /** Calls the listener with the name of each heartbeat whose status changes only because time passes. */
  onChanged(listener: (name: string) => void): void {
    this.#listeners.push(listener);
  }

  judge(known: KnownHeartbeat): Judgement {
    const { outages } = this.#parts.store;
    const now = this.#now();
    // Until the outage before startup has been recorded, all of the time so far counts as an outage.
    const all = this.#outages.hasBegun ? outages : [...outages, { from: 0, to: now }];
    return judgeHeartbeat(this.#stateOf(known.name), known, all, now);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.settle();
    if (!this.#outages.hasBegun) return;
    await this.#outages.close(this.#now());
    await this.#parts.store.save();
  }

  /** Logs at most once a minute. Skips the error of an unavailable store, because the store itself logs it. */
  #warn(err: unknown, message: string): void {
    if (err instanceof StoreUnavailable) return;
    if (performance.now() - this.#warnedAt < warnMs) return;
    this.#warnedAt = performance.now();
    this.#parts.log.warn({ err }, message);
  }

  #now(): number {
    return this.#parts.clock().getTime();
  }

  /** Returns the state of a defined heartbeat. Ignores a state left by a deleted heartbeat with the same name. */
  #stateOf(name: string): HeartbeatState | undefined {
    const state = this.#parts.store.find(name);
    return state?.since === this.#parts.keeper.find(name)?.since ? state : undefined;
  }

  /** Schedules a wake-up, unless an earlier one is already scheduled. */
  #plan(at: number): void {
    if (this.#isClosed || at >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    const waitMs = Math.min(Math.max(at - this.#now(), 0), maxWaitMs);
    this.#timer = setTimeout(() => {
      this.#timerAt = Number.POSITIVE_INFINITY;
      void this.look();
    }, waitMs).unref();
  }

  async #wake(): Promise<void> {
    const now = this.#now();
    try {
      await this.#outages.note(now);
      await this.#reconcile();
      if (this.#isAllDue) await this.#checkAll();
      const slice = new Slice();
      for (const name of this.#due.take(now)) {
        this.#check(name);
        for (const listener of this.#listeners) listener(name);
        if (slice.isOver) await slice.giveWay();
      }
      this.#plan(Math.min(this.#due.first ?? Number.POSITIVE_INFINITY, now + maxWaitMs));
    } catch (err) {
      this.#retry(err);
    }
  }

  #retry(err: unknown): void {
    this.#warn(err, 'heartbeats: due times cannot be checked; trying again');
    this.#plan(this.#now() + retryMs);
  }

  async #reconcile(): Promise<void> {
    const { alerts, store, lease } = this.#parts;
    if (this.#knowsRaised || !lease.isHeld()) return;
    await reconcileAlerts(alerts, store, this.#now());
    this.#knowsRaised = true;
    await this.#checkAll();
  }

  /** Resolves to true if any heartbeat became due or was already overdue between the two times. */
  async #isMissed(from: number, until: number): Promise<boolean> {
    const { store, keeper } = this.#parts;
    const slice = new Slice();
    for (const known of keeper.list()) {
      const { changesAt, overdue } = judgeHeartbeat(this.#stateOf(known.name), known, store.outages, from);
      if (overdue !== undefined || changesAt <= until) return true;
      if (slice.isOver) await slice.giveWay();
    }
    return false;
  }

  async #checkAll(): Promise<void> {
    if (!this.#outages.hasBegun) return;
    const { store, keeper } = this.#parts;
    const slice = new Slice();
    this.#isAllDue = true;
    this.#checked = toNamed(keeper.list());
    for (const name of new Set([...this.#checked.keys(), ...Array.from(store.list(), (state) => state.name)])) {
      this.#check(name);
      if (slice.isOver) await slice.giveWay();
    }
    this.#isAllDue = false;
  }

  /** Checks the heartbeats whose definitions have changed or been deleted. */
  #checkChanged(): void {
    if (!this.#outages.hasBegun) return;
    const before = this.#checked;
    this.#checked = toNamed(this.#parts.keeper.list());
    for (const [name, known] of this.#checked) if (before.get(name) !== known) this.#check(name);
    for (const name of before.keys()) if (!this.#checked.has(name)) this.#check(name);
  }

  /** Schedules a heartbeat's next check and takes its next step. Never throws. */
  #check(name: string): void {
    if (!this.#outages.hasBegun || this.#isClosed) return;
    try {
      this.#takeStep(name);
    } catch (err) {
      this.#warn(err, 'heartbeats: the due time of a heartbeat cannot be checked; trying again');
      this.#wait(name, this.#now() + retryMs);
    }
  }

  #takeStep(name: string): void {
    const now = this.#now();
    const known = this.#parts.keeper.find(name);
    const judgement = known && this.judge(known);
    this.#due.set(name, judgement?.changesAt ?? Number.POSITIVE_INFINITY);
    this.#plan(Math.max(this.#due.first ?? Number.POSITIVE_INFINITY, now));
    const { lease } = this.#parts;
    if (!lease.isHeld() || !this.#knowsRaised || this.#busy.has(name)) return;
    const step = this.#findStep(name, known, judgement, now);
    if (!step) return;
    const run = known ? step : () => this.#runUnlessDefined(name, step);
    const state = this.#parts.store.find(name);
    const vain = this.#vain.get(name);
    if (vain && vain.state === state && vain.known === known && Math.abs(now - vain.at) < retryMs) {
      this.#wait(name, vain.at + retryMs);
      return;
    }
    this.#vain.delete(name);
    this.#busy.add(name);
    const running = run()
      .then(
        () => true,
        (err: unknown) => {
          this.#warn(err, 'heartbeats: a state change cannot be stored; trying again');
          this.#wait(name, now + retryMs);
          return false;
        },
      )
      .then(async (isDone) => {
        this.#busy.delete(name);
        if (!isDone) return;
        if (this.#parts.store.find(name) === state) this.#vain.set(name, { state, known, at: now });
        // A ping may have arrived in the meantime.
        await this.#waitForTurn();
        this.#check(name);
      });
    this.#working = Promise.all([this.#working, running]).then(() => undefined);
  }

  #findStep(
    name: string,
    known: KnownHeartbeat | undefined,
    judgement: Judgement | undefined,
    now: number,
  ): (() => Promise<void>) | undefined {
    const { store, alerts, patienceMs } = this.#parts;
    const state = store.find(name);
    const step = findStep({ known, judgement, state, now, startedAt: this.#startedAt, patienceMs });
    switch (step?.type) {
      case undefined:
        return undefined;
      case 'wait':
        this.#wait(name, step.until);
        return undefined;
      case 'append':
        return () => store.append(step.record);
      case 'expect':
        return () => this.#expect(step.record);
      case 'alert':
        return async () => {
          const { id } = await alerts.raise(step.alert);
          await store.append(step.toRecord(id));
        };
    }
  }

  /**
   * Runs a step for a deleted heartbeat. Does nothing if another instance or an import has just defined that heartbeat
   * again.
   */
  async #runUnlessDefined(name: string, run: () => Promise<void>): Promise<void> {
    const { keeper } = this.#parts;
    await keeper.catchUp();
    if (!keeper.find(name)) await run();
  }

  async #expect(record: ExpectedRecord): Promise<void> {
    const { store, keeper } = this.#parts;
    const { name, since } = record;
    // A later state belongs either to a successor known to another instance, or to a predecessor from before the clock
    // was set back. Only the current definitions tell which.
    if ((store.find(name)?.since ?? 0) > since) await keeper.catchUp();
    if (keeper.find(name)?.since === since) await store.append(record);
  }

  #wait(name: string, until: number): void {
    this.#due.set(name, until);
    this.#plan(until);
  }
}

const toNamed = (all: readonly KnownHeartbeat[]): ReadonlyMap<string, KnownHeartbeat> =>
  new Map(all.map((known) => [known.name, known]));
