import { ReadyAlerts } from './ready-alerts.ts';
import type { WaitingAlert } from './waiting-alert.ts';

/** More alerts stay in the log until there is room. */
const capacity = 10_000;

/**
 * The first alerts of the log that a destination has not finished with, and which of them is next: the newest critical one,
 * or else the oldest one, but no alert before an older one with its key.
 */
export class WaitingAlerts {
  readonly #alerts = new Map<number, WaitingAlert>();
  /** Alerts with one key, the oldest first. */
  readonly #chains = new Map<string, WaitingAlert[]>();
  readonly #ready = new ReadyAlerts();
  readonly #later = new Set<WaitingAlert>();
  #isFull = false;

  get size(): number {
    return this.#alerts.size;
  }

  /** Once full, it takes no more until half of the room is free. */
  get isFull(): boolean {
    const { size } = this.#alerts;
    if (size >= capacity) this.#isFull = true;
    else if (size <= capacity / 2) this.#isFull = false;
    return this.#isFull;
  }

  /** When the first of those that are not due will be; undefined if there is none. */
  get nextDueAt(): number | undefined {
    const times = [...this.#later].map(({ dueAt }) => dueAt);
    return times.length === 0 ? undefined : times.reduce((one, other) => Math.min(one, other));
  }

  get hasReady(): boolean {
    return !this.#ready.isEmpty;
  }

  has(seq: number): boolean {
    return this.#alerts.has(seq);
  }

  get(seq: number): WaitingAlert | undefined {
    return this.#alerts.get(seq);
  }

  list(): IterableIterator<WaitingAlert> {
    return this.#alerts.values();
  }

  add(alert: WaitingAlert): void {
    this.#alerts.set(alert.seq, alert);
    const { key } = alert;
    if (key !== undefined) {
      const chain = this.#chains.get(key);
      if (chain) this.#join(chain, alert);
      else this.#chains.set(key, [alert]);
    }
    if (alert.state === 'ready') this.#ready.add(alert);
  }

  /** The alert that is next at `now`; it counts as running from then on. */
  take(now: number): WaitingAlert | undefined {
    for (const alert of this.#later) if (alert.dueAt <= now) this.#makeReady(alert);
    const next = this.#ready.take();
    if (next) next.state = 'running';
    return next;
  }

  /** The alert counts as running, although it may not be its turn. */
  begin(alert: WaitingAlert): void {
    this.#withdraw(alert);
    alert.state = 'running';
  }

  /** The alert was tried and waits again. */
  release(alert: WaitingAlert, now: number): void {
    if (this.#alerts.get(alert.seq) !== alert) return;
    const head = this.#headOf(alert);
    if (head !== alert) {
      alert.state = 'behind';
      if (head?.state === 'behind') this.#makeReady(head);
    } else if (alert.dueAt > now) {
      alert.state = 'later';
      this.#later.add(alert);
    } else this.#makeReady(alert);
  }

  /** The alert no longer waits. */
  remove(alert: WaitingAlert): void {
    if (!this.#alerts.delete(alert.seq)) return;
    this.#withdraw(alert);
    const { key } = alert;
    const chain = key === undefined ? undefined : this.#chains.get(key);
    if (key === undefined || !chain) return;
    chain.splice(chain.indexOf(alert), 1);
    const [next] = chain;
    if (!next) this.#chains.delete(key);
    else if (next.state === 'behind') this.#makeReady(next);
  }

  /** Alerts that are not due may be tried now: all of them, or those that were not tried early already. */
  hurry({ all }: { all: boolean }): void {
    for (const alert of [...this.#later]) {
      if (alert.isEarly && !all) continue;
      alert.isEarly = true;
      alert.suspicion = 0;
      this.#makeReady(alert);
    }
    this.#ready.clearSuspicion();
  }

  #makeReady(alert: WaitingAlert): void {
    this.#later.delete(alert);
    alert.state = 'ready';
    this.#ready.add(alert);
  }

  /** Behind the older alerts of its key. */
  #join(chain: WaitingAlert[], alert: WaitingAlert): void {
    const newer = chain.findIndex(({ seq }) => seq > alert.seq);
    const place = newer < 0 ? chain.length : newer;
    const [head] = chain;
    chain.splice(place, 0, alert);
    if (place > 0 || head?.state === 'running') alert.state = 'behind';
    else if (head) {
      this.#withdraw(head);
      head.state = 'behind';
    }
  }

  #headOf(alert: WaitingAlert): WaitingAlert | undefined {
    return alert.key === undefined ? alert : this.#chains.get(alert.key)?.[0];
  }

  #withdraw(alert: WaitingAlert): void {
    this.#later.delete(alert);
    if (alert.state === 'ready') this.#ready.remove(alert);
  }
}
