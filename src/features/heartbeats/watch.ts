import type { FastifyBaseLogger } from 'fastify';
import type { AlertSource } from '../../kit/alert-source.ts';
import { DueTimes } from '../../kit/due-times.ts';
import { StoreUnavailable } from '../../lib/expected-errors.ts';
import { createTurns, Slice } from '../../lib/slice.ts';
import { readIdTime } from '../../storage/journal/line.ts';
import type { Lease } from '../../storage/postgres/lease.ts';
import { describeDown, describeUp, heartbeatFormat, toHeartbeatName } from './alert.ts';
import type { KnownHeartbeat } from './definition.ts';
import { type Judgement, judgeHeartbeat } from './judge.ts';
import type { HeartbeatKeeper } from './keeper.ts';
import type { HeartbeatRecord, HeartbeatState } from './runs.ts';
import type { LastAlive } from './snapshots.ts';
import type { HeartbeatStore } from './store.ts';

/** Milliseconds between two looks at the clock at most, and after a failure. */
const lookMs = 60_000;
const retryMs = 5000;

/** Milliseconds after which nobody has looked: the machine has slept, or its clock was set. */
const longestGapMs = 90_000;
const setBackMs = 30_000;

/** A job that fails again raises an alert again after so many milliseconds; and what fails here is logged again. */
const repeatMs = 60_000;

/** An act that changed nothing: the state and the definition it was based on, and its time. */
interface Fruitless {
  state: HeartbeatState | undefined;
  known: KnownHeartbeat | undefined;
  at: number;
}

interface WatchParts {
  store: HeartbeatStore;
  alive: LastAlive;
  keeper: HeartbeatKeeper;
  lease: Pick<Lease, 'isHeld' | 'onChanged'>;
  /** Undefined where alerts are not mounted. */
  alerts: Pick<AlertSource, 'raise' | 'listRaised'> | undefined;
  /** Milliseconds after the start until when one without a definition may still get it. */
  patienceMs: number;
  /** Gets the name of each heartbeat that stands otherwise. */
  onChanged(name: string): void;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'warn'>;
}

/** Decides with one timer which heartbeats are down, and raises and resolves their alerts; of several instances one does. */
export class HeartbeatWatch {
  readonly #parts: WatchParts;
  readonly #due = new DueTimes();
  readonly #busy = new Set<string>();
  readonly #fruitless = new Map<string, Fruitless>();
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  /** When somebody has looked at the clock last, by that clock. */
  #seenAt = 0;
  #writtenAt = 0;
  #startedAt = 0;
  #warnedAt = Number.NEGATIVE_INFINITY;
  #hasBegun = false;
  /** Whether it is known here which alerts the log has. */
  #knowsRaised = false;
  /** Whether all are still to be looked at. */
  #isAllDue = false;
  #isClosed = false;
  /** Thousands of alerts may be stored at the same time. */
  readonly #waitForTurn = createTurns();
  #working: Promise<void> = Promise.resolve();
  /** The definitions that were looked at last. */
  #looked: ReadonlyMap<string, KnownHeartbeat> = new Map();

  constructor(parts: WatchParts) {
    this.#parts = parts;
    const { store, keeper, lease } = parts;
    store.onChanged((name) => {
      if (name === '') this.#working = this.#working.then(() => this.#lookAtAll()).catch((err) => this.#retry(err));
      else this.#look(name);
    });
    keeper.onChanged(() => this.#lookAtChanged());
    lease.onChanged(() => {
      this.#knowsRaised = false;
      if (this.#hasBegun) void this.look();
    });
  }

  start(): void {
    this.#startedAt = this.#now();
    void this.look();
  }

  /** Looks at the clock now, as it does by itself in time. */
  look(): Promise<void> {
    this.#working = this.#working.then(() => this.#wake());
    return this.#working;
  }

  /** Resolves when nothing is being done. */
  async settle(): Promise<void> {
    for (let working: Promise<void> | undefined; working !== this.#working; await working) working = this.#working;
  }

  /** How a heartbeat stands now. */
  judge(known: KnownHeartbeat): Judgement {
    const { outages } = this.#parts.store;
    const now = this.#now();
    // Until somebody has looked, the time before counts as one in which nothing could be received.
    const all = this.#hasBegun ? outages : [...outages, { from: 0, to: now }];
    return judgeHeartbeat(this.#stateOf(known.name), known, all, now);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.settle();
    const { store, alive } = this.#parts;
    if (!this.#hasBegun) return;
    await alive.write(this.#now()).catch(() => undefined);
    await store.save();
  }

  /** Once a minute is enough: it is tried again more often than that. A store that cannot be used says so itself. */
  #warn(err: unknown, message: string): void {
    if (err instanceof StoreUnavailable) return;
    if (performance.now() - this.#warnedAt < repeatMs) return;
    this.#warnedAt = performance.now();
    this.#parts.log.warn({ err }, message);
  }

  #now(): number {
    return this.#parts.clock().getTime();
  }

  /** The state, unless it is that of another one that had the same name. */
  #stateOf(name: string): HeartbeatState | undefined {
    const state = this.#parts.store.find(name);
    return state?.since === this.#parts.keeper.find(name)?.since ? state : undefined;
  }

  /** Wakes at that time, if not before. */
  #plan(at: number): void {
    if (this.#isClosed || at >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    const waitMs = Math.min(Math.max(at - this.#now(), 0), lookMs);
    this.#timer = setTimeout(() => {
      this.#timerAt = Number.POSITIVE_INFINITY;
      void this.look();
    }, waitMs).unref();
  }

  async #wake(): Promise<void> {
    const now = this.#now();
    try {
      await this.#noteTime(now);
      await this.#noteRaised();
      if (this.#isAllDue) await this.#lookAtAll();
      const slice = new Slice();
      for (const name of this.#due.take(now)) {
        this.#look(name);
        this.#parts.onChanged(name);
        if (slice.isOver) await slice.giveWay();
      }
      this.#plan(Math.min(this.#due.first ?? Number.POSITIVE_INFINITY, now + lookMs));
    } catch (err) {
      this.#retry(err);
    }
  }

  #retry(err: unknown): void {
    this.#warn(err, 'heartbeats: they cannot be looked at; trying again');
    this.#plan(this.#now() + retryMs);
  }

  /** Notes when nothing could be received, before anything is decided. */
  async #noteTime(now: number): Promise<void> {
    const { store, alive } = this.#parts;
    if (!this.#hasBegun) {
      await store.catchUp();
      // A database that cannot be used now.
      if (!store.isCurrent) throw new StoreUnavailable('What was sent to heartbeats is not known yet');
      const aliveAt = await alive.read();
      const from = aliveAt ?? 0;
      if (from > now + setBackMs) await store.append({ type: 'clock', at: now });
      else if (await this.#isMissed(from, now)) await store.append({ type: 'outage', from, at: now });
      this.#hasBegun = true;
      this.#seenAt = now;
    } else if (now < this.#seenAt - setBackMs) {
      await store.append({ type: 'clock', at: now });
    } else if (now - this.#seenAt > longestGapMs) {
      await store.append({ type: 'outage', from: this.#seenAt, at: now });
    }
    this.#seenAt = now;
    if (Math.abs(now - this.#writtenAt) < lookMs) return;
    await alive.write(now);
    this.#writtenAt = now;
  }

  /** Notes the alerts that a process, this one or another, has raised or resolved and not noted before it was killed. */
  async #noteRaised(): Promise<void> {
    const { alerts, store, lease } = this.#parts;
    if (this.#knowsRaised || !lease.isHeld()) return;
    for (const [fingerprint, { id, ids, level, isResolved }] of (await alerts?.listRaised(heartbeatFormat)) ?? []) {
      const state = store.find(toHeartbeatName(fingerprint));
      if (!state) continue;
      const { name, since, seq, problem, told } = state;
      // The log may not have the alert that was told yet: it waits for a database.
      if (isResolved ? !told || !ids.includes(told.alert) : told) continue;
      const at = readIdTime(id) ?? this.#now();
      // What was wrong after it is still to be raised.
      const isLater = problem !== null && problem.at > at;
      const about = { alert: isResolved ? null : id, level, problem: isLater ? problem.seq - 1 : seq };
      await store.append({ type: 'told', name, since, at, ...about });
    }
    this.#knowsRaised = true;
    await this.#lookAtAll();
  }

  /** Whether anything was due, or late, between two times. */
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

  async #lookAtAll(): Promise<void> {
    if (!this.#hasBegun) return;
    const { store, keeper } = this.#parts;
    const slice = new Slice();
    this.#isAllDue = true;
    this.#looked = toNamed(keeper.list());
    for (const name of new Set([...this.#looked.keys(), ...Array.from(store.list(), (state) => state.name)])) {
      this.#look(name);
      if (slice.isOver) await slice.giveWay();
    }
    this.#isAllDue = false;
  }

  /** Looks at the heartbeats whose definitions have changed, and at those that are gone. */
  #lookAtChanged(): void {
    if (!this.#hasBegun) return;
    const before = this.#looked;
    this.#looked = toNamed(this.#parts.keeper.list());
    for (const [name, known] of this.#looked) if (before.get(name) !== known) this.#look(name);
    for (const name of before.keys()) if (!this.#looked.has(name)) this.#look(name);
  }

  /** Finds out when a heartbeat changes, and does what is to be done for it now. Never throws. */
  #look(name: string): void {
    if (!this.#hasBegun || this.#isClosed) return;
    try {
      this.#lookAt(name);
    } catch (err) {
      this.#warn(err, 'heartbeats: one cannot be looked at; trying again');
      this.#wait(name, this.#now() + retryMs);
    }
  }

  #lookAt(name: string): void {
    const now = this.#now();
    const known = this.#parts.keeper.find(name);
    const judgement = known && this.judge(known);
    this.#due.set(name, judgement?.changesAt ?? Number.POSITIVE_INFINITY);
    this.#plan(Math.max(this.#due.first ?? Number.POSITIVE_INFINITY, now));
    const { lease, store } = this.#parts;
    if (!lease.isHeld() || !this.#knowsRaised || this.#busy.has(name)) return;
    const act = this.#findAct(name, judgement, now);
    if (!act) return;
    const state = store.find(name);
    const fruitless = this.#fruitless.get(name);
    const isSame = fruitless?.state === state && fruitless?.known === known;
    if (fruitless && isSame && Math.abs(now - fruitless.at) < retryMs) {
      this.#wait(name, fruitless.at + retryMs);
      return;
    }
    this.#fruitless.delete(name);
    this.#busy.add(name);
    const acting = act()
      .then(
        () => true,
        (err: unknown) => {
          this.#warn(err, 'heartbeats: what has changed cannot be stored; trying again');
          this.#wait(name, now + retryMs);
          return false;
        },
      )
      .then(async (isDone) => {
        this.#busy.delete(name);
        if (!isDone) return;
        if (store.find(name) === state) this.#fruitless.set(name, { state, known, at: now });
        // Meanwhile something may have come.
        await this.#waitForTurn();
        this.#look(name);
      });
    this.#working = Promise.all([this.#working, acting]).then(() => undefined);
  }

  #findAct(name: string, judgement: Judgement | undefined, now: number): (() => Promise<void>) | undefined {
    const { store, keeper } = this.#parts;
    const known = keeper.find(name);
    const own = known && this.#stateOf(name);
    if (judgement?.overdue && known) {
      const { why, dueAt } = judgement.overdue;
      const { since } = known;
      return () => store.append({ type: 'overdue', name, since, at: now, why, dueAt, after: own?.seq ?? 0 });
    }
    // The log says from when on the first one is expected, so that no restart begins the first period again. For one of before
    // this start, such as those of 1.1.0, which expected none, that is now.
    const isUndated = (own?.base ?? null) === null && !own?.paused && !own?.problem;
    if (known && isUndated) {
      const { since } = known;
      const at = since >= this.#startedAt ? since : now;
      return () => this.#expect({ type: 'expected', name, since, at });
    }
    const state = store.find(name);
    return state && this.#findTelling(state, now);
  }

  /** Stores that a heartbeat is expected, which ends any other one of its name. */
  async #expect(record: HeartbeatRecord & { type: 'expected' }): Promise<void> {
    const { store, keeper } = this.#parts;
    const { name, since } = record;
    // One that was made later by the clock may be its successor, which another instance knows, or was made before the clock was
    // set back.
    if ((store.find(name)?.since ?? 0) > since) await keeper.catchUp();
    if (keeper.find(name)?.since === since) await store.append(record);
  }

  /** What its alert is to say, if that is something else than what it has said. */
  #findTelling(state: HeartbeatState, now: number): (() => Promise<void>) | undefined {
    const { alerts, keeper, store, patienceMs } = this.#parts;
    const { name, since, problem, told } = state;
    const known = keeper.find(name);
    if (!known && now - this.#startedAt < patienceMs) return this.#wait(name, this.#startedAt + patienceMs);
    const isDown = known?.since === since && problem !== null && state.paused === null;
    if (!alerts) return undefined;
    if (isDown) {
      if (told && problem.seq <= told.seq) return undefined;
      if (told && Math.abs(now - told.at) < repeatMs) return this.#wait(name, told.at + repeatMs);
      return async () => {
        const alert = describeDown(known, state, problem);
        const { id } = await alerts.raise(alert);
        const { level } = alert;
        await store.append({ type: 'told', name, since, at: now, alert: id, level, problem: problem.seq });
      };
    }
    if (!told) {
      if (known) return undefined;
      const about = { alert: null, level: '', problem: 0, isForgotten: true } as const;
      return () => store.append({ type: 'told', name, since, at: now, ...about });
    }
    return async () => {
      await alerts.raise(describeUp(known, state, told));
      await store.append({ type: 'told', name, since, at: now, alert: null, level: told.level, problem: told.seq });
    };
  }

  #wait(name: string, until: number): undefined {
    this.#due.set(name, until);
    this.#plan(until);
  }
}

const toNamed = (all: readonly KnownHeartbeat[]): ReadonlyMap<string, KnownHeartbeat> =>
  new Map(all.map((known) => [known.name, known]));
