import type { FastifyBaseLogger } from 'fastify';
import type { AlertSource } from '../../kit/alert-source.ts';
import { DueTimes } from '../../kit/due-times.ts';
import { createPeriodic } from '../../kit/periodic.ts';
import { RaisedAlerts } from '../../kit/raised-alerts.ts';
import type { Severity } from '../../kit/severity.ts';
import { minuteMs } from '../../lib/units.ts';
import type { Lease } from '../../storage/postgres/lease.ts';
import type { Fleet } from './fleet.ts';
import {
  describeDuplicates,
  describeMostReporting,
  describeMostSilent,
  describeReporting,
  describeSilent,
  describeSingle,
  hostFormat,
  mostSilentMark,
  toDuplicateMark,
  toSilentMark,
} from './host-alerts.ts';
import type { HostState } from './host-state.ts';
import { findDuplicates, type HostJudgement, judgeHost } from './judge-host.ts';
import type { HostKeeper, KnownHost } from './kind.ts';

/** Maximum time between two checks, and delay after a failure, in milliseconds. */
const lookMs = 5000;

/**
 * Maximum gap between two checks, in milliseconds and as a share of `silentMs`. A longer gap means that the machine was
 * asleep or that its clock was set.
 */
const longestGapMs = 30_000;
const longestGapShare = 1 / 4;

/** Maximum milliseconds between the last reports of hosts that count as failing together. */
const togetherMs = minuteMs;

/** Milliseconds without a report after which a host may be falling silent. Slightly less than the report interval. */
const missedMs = 8000;

interface WatchParts {
  fleet: Fleet;
  keeper: Pick<HostKeeper, 'find' | 'list'>;
  alerts: Pick<AlertSource, 'raise' | 'listRaised'>;
  lease: Pick<Lease, 'isHeld' | 'onChanged'>;
  silentMs(): number;
  /** Returns the level of alerts about silent hosts. */
  silentLevel(): Severity;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'warn'>;
}

/** Raises and resolves alerts about silent hosts and shared host names. Of several instances, only one does so. */
export class HostWatch {
  readonly #parts: WatchParts;
  readonly #due = new DueTimes();
  readonly #raised: RaisedAlerts;
  readonly #looks = createPeriodic(
    lookMs / 5,
    () => this.#look(),
    (err) => this.#parts.log.warn({ err }, 'hosts: alerts about hosts cannot be stored'),
  );
  readonly #listeners: ((name: string) => void)[] = [];
  #receivingSince: number;
  #seenAt: number;
  /**
   * Times of the earliest and latest last report among the hosts that the alert about most hosts covers, in Unix
   * milliseconds.
   */
  #mostSilent: { from: number; until: number } | undefined;
  /** True if the last report could not be stored. */
  #isLosing = false;
  /**
   * Time since which at most half of the hosts have been silent. Set only while the alert about most hosts is firing.
   */
  #recoveringSince: number | undefined;

  constructor(parts: WatchParts) {
    this.#parts = parts;
    this.#raised = new RaisedAlerts(parts.alerts, hostFormat);
    this.#receivingSince = this.#now();
    this.#seenAt = this.#receivingSince;
    parts.fleet.onReport((name) => this.#note(name));
    parts.fleet.onLost(() => {
      // A single lost report may be due to a single host's file. Several in a row mean that the storage does not work.
      if (this.#isLosing) this.#receivingSince = this.#now();
      this.#isLosing = true;
    });
    parts.lease.onChanged((isHeld) => {
      this.#raised.forget();
      this.#mostSilent = undefined;
      // Hosts may be reporting to the instance that lost the lease.
      if (isHeld) this.#receivingSince = this.#now();
    });
  }

  start(): void {
    const now = this.#now();
    this.#receivingSince = now;
    this.#seenAt = now;
    this.#looks.start();
  }

  /** Calls the listener with the name of each host whose state changes without a report. */
  onChanged(listener: (name: string) => void): void {
    this.#listeners.push(listener);
  }

  judge(name: string): HostJudgement {
    return judgeHost(this.#parts.fleet.find(name), this.#now(), this.#rules);
  }

  /**
   * Returns the alert that covers a silent host: its own alert, or the alert about most hosts. Undefined before there
   * is an alert.
   */
  findAlert(name: string): 'own' | 'most' | undefined {
    if (this.#raised.isFiring(toSilentMark(name))) return 'own';
    const state = this.#parts.fleet.find(name);
    return state && this.#isAmongMost(state) ? 'most' : undefined;
  }

  /** Checks all hosts that are due. Raises and resolves alerts. Never rejects. */
  look(): Promise<void> {
    return this.#looks.run();
  }

  close(): Promise<void> {
    return this.#looks.close();
  }

  get #rules() {
    return { silentMs: this.#parts.silentMs(), receivingSince: this.#receivingSince };
  }

  #now(): number {
    return this.#parts.clock().getTime();
  }

  #note(name: string): void {
    const { fleet } = this.#parts;
    this.#isLosing = false;
    const state = fleet.find(name);
    this.#due.set(name, judgeHost(state, this.#now(), this.#rules).changesAt);
    const isAlerting = this.#raised.isFiring(toSilentMark(name)) || this.#raised.isFiring(mostSilentMark);
    const hasDuplicates = state !== undefined && findDuplicates(state).length > 0;
    if (isAlerting || hasDuplicates !== this.#raised.isFiring(toDuplicateMark(name))) void this.look();
  }

  async #look(): Promise<void> {
    const now = this.#now();
    const gap = now - this.#seenAt;
    this.#seenAt = now;
    if (Math.abs(gap) > Math.min(longestGapMs, this.#parts.silentMs() * longestGapShare)) this.#receivingSince = now;
    const { fleet, keeper, lease } = this.#parts;
    for (const name of this.#due.take(now)) {
      this.#due.set(name, judgeHost(fleet.find(name), now, this.#rules).changesAt);
      for (const listener of this.#listeners) listener(name);
    }
    if (!lease.isHeld()) return;
    await this.#raised.read();
    const known = keeper.list();
    await this.#lookAtMost(this.#listExpected(known));
    for (const host of known) {
      await this.#lookAtSilence(host);
      await this.#lookAtMachines(host);
    }
    await this.#resolveDeleted();
  }

  /** Returns the states of the hosts that should be reporting. */
  #listExpected(known: readonly KnownHost[]): HostState[] {
    return known.flatMap(({ name }) => {
      const state = this.#parts.fleet.find(name);
      return state && !state.isHub && state.stoppedAt === null ? [state] : [];
    });
  }

  /** Raises or resolves the alert about most hosts. */
  async #lookAtMost(expected: readonly HostState[]): Promise<void> {
    const now = this.#now();
    if (this.#raised.isFiring(mostSilentMark)) {
      // After a restart, hosts that were silent before count only as late, although they still have not reported.
      const silent = expected.filter(({ at }) => now - at >= this.#parts.silentMs());
      const group = this.#findTogether(silent, silent);
      if (!this.#mostSilent || isMost(group, expected)) this.#mostSilent = toSpan(group);
      if (silent.length * 2 > expected.length) {
        this.#recoveringSince = undefined;
        return;
      }
      this.#recoveringSince ??= now;
      // The remaining hosts are probably about to return, too.
      if (silent.length > 0 && now - this.#recoveringSince < togetherMs) return;
      this.#recoveringSince = undefined;
      await this.#raised.resolve(describeMostReporting(silent.length));
      this.#mostSilent = undefined;
      return;
    }
    const silent = expected.filter((state) => judgeHost(state, now, this.#rules).state === 'silent');
    const together = this.#findTogether(silent, silent);
    if (!isMost(together, expected)) return;
    const since = Math.min(...together.map(({ at }) => at));
    const names = together.map(({ name }) => name);
    await this.#raised.raise(this.#parts.silentLevel(), describeMostSilent(names, expected.length, since));
    this.#mostSilent = toSpan(together);
  }

  /** Returns the largest group of hosts whose last reports were within a minute of that of a silent host. */
  #findTogether(silent: readonly HostState[], all: readonly HostState[]): HostState[] {
    const unreported = silent.filter(({ name }) => !this.#raised.isFiring(toSilentMark(name)));
    let largest: HostState[] = [];
    for (const { at } of unreported) {
      const group = all.filter(
        (state) => state.at >= at && state.at <= at + togetherMs && !this.#raised.isFiring(toSilentMark(state.name)),
      );
      if (group.length > largest.length) largest = group;
    }
    return largest;
  }

  async #lookAtSilence(host: KnownHost): Promise<void> {
    const { fleet, keeper } = this.#parts;
    const state = fleet.find(host.name);
    if (!state || state.isHub) return;
    const now = this.#now();
    const isFiring = this.#raised.isFiring(toSilentMark(host.name));
    const isSilent = judgeHost(state, now, this.#rules).state === 'silent';
    // After a restart, a host that was silent before counts only as late, although it still has not reported.
    if (isFiring && !isSilent && now - state.at < this.#parts.silentMs())
      await this.#raised.resolve(describeReporting(host.name, state));
    if (isFiring || !isSilent || this.#isAmongMost(state)) return;
    // Other hosts may be falling silent too. A single alert then covers them all.
    const expected = this.#listExpected(keeper.list());
    const missing = expected.filter(({ at }) => now - at > missedMs);
    const isUndecided = now - state.at < this.#parts.silentMs() + togetherMs;
    if (isUndecided && isMost(this.#findTogether([state], missing), expected)) return;
    await this.#raised.raise(this.#parts.silentLevel(), describeSilent(host, state));
  }

  /**
   * True if the firing alert about most hosts covers the host, because the last report of the host was close to theirs.
   */
  #isAmongMost({ at }: HostState): boolean {
    const span = this.#mostSilent;
    if (!span || !this.#raised.isFiring(mostSilentMark)) return false;
    return at >= span.from - togetherMs && at <= span.until + togetherMs;
  }

  async #lookAtMachines(host: KnownHost): Promise<void> {
    const state = this.#parts.fleet.find(host.name);
    if (!state) return;
    const isFiring = this.#raised.isFiring(toDuplicateMark(host.name));
    const machines = findDuplicates(state);
    if (machines.length > 0 && !isFiring) await this.#raised.raise('WARNING', describeDuplicates(host, machines));
    if (machines.length === 0 && isFiring) await this.#raised.resolve(describeSingle(host.name));
  }

  async #resolveDeleted(): Promise<void> {
    for (const mark of this.#raised.list()) {
      const [, name = '', part] = mark.split('/');
      if (mark === mostSilentMark || this.#parts.keeper.find(name)) continue;
      await this.#raised.resolve(part === undefined ? describeReporting(name, undefined) : describeSingle(name));
    }
  }
}

/** Returns the earliest and the latest time of the hosts' last reports. Undefined without hosts. */
const toSpan = (hosts: readonly HostState[]): { from: number; until: number } | undefined => {
  const times = hosts.map(({ at }) => at);
  return times.length === 0 ? undefined : { from: Math.min(...times), until: Math.max(...times) };
};

/** True if `some` has several hosts and more than half of the hosts in `all`. */
const isMost = (some: readonly HostState[], all: readonly HostState[]): boolean =>
  some.length > 1 && some.length * 2 > all.length;
