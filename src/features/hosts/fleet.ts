import { HttpError } from '../../http/errors.ts';
import type { HostReport } from '../../kit/host-report/report-schema.ts';
import { ValueRefusal } from '../../lib/expected-errors.ts';
import { InTurn } from '../../lib/scheduling.ts';
import { assignDisks, dropHiddenDisks, toMean, toRow } from './columns.ts';
import { type HostState, type HostStore, maxStateBytes, type ReportingMachine } from './host-state.ts';
import { toLateMs } from './judge-host.ts';
import { align, isInRing, type RingRow, rings } from './rings.ts';

/** Number of one-minute values in the CPU line of a host. */
const lineLength = 60;

/** Milliseconds for which a machine that has reported under a name is remembered. */
const machineMs = 10 * 60_000;

/** Maximum number of machines remembered per name. */
const mostMachines = 4;

/** State of a host before and after a report. */
export interface Taken {
  state: HostState;
  before: HostState | undefined;
}

interface FleetOptions {
  /** Returns false for a host that another instance has deleted. `catchUp` then drops its state. */
  isKept(name: string): boolean;
  /** Milliseconds without a report after which a host is silent. */
  silentMs(): number;
}

/** Last known state and history of every host. The reports of each host are processed one at a time. */
export class Fleet {
  readonly #store: HostStore;
  readonly #options: FleetOptions;
  readonly #states = new Map<string, HostState>();
  readonly #inTurn = new InTurn();
  readonly #listeners: ((name: string) => void)[] = [];
  readonly #lossListeners: (() => void)[] = [];

  constructor(store: HostStore, options: FleetOptions) {
    this.#store = store;
    this.#options = options;
  }

  async load(): Promise<void> {
    for (const state of await this.#store.load()) this.#states.set(state.name, state);
  }

  /** Loads reports that other instances have received. Drops the states of hosts that no longer exist. */
  async catchUp(): Promise<void> {
    const changed = await this.#store.loadChanged(this.#states);
    const { isKept } = this.#options;
    for (const name of this.#states.keys()) if (!isKept(name)) this.#states.delete(name);
    for (const state of changed) {
      const known = this.#states.get(state.name);
      if ((known && known.at >= state.at) || !isKept(state.name)) continue;
      this.#states.set(state.name, state);
      this.#callListeners(state.name);
    }
  }

  /** Calls the listener with the name of a host after each of its reports. */
  onReport(listener: (name: string) => void): void {
    this.#listeners.push(listener);
  }

  /** Calls the listener after each report that the store cannot accept. */
  onLost(listener: () => void): void {
    this.#lossListeners.push(listener);
  }

  find(name: string): HostState | undefined {
    return this.#states.get(name);
  }

  list(): HostState[] {
    return [...this.#states.values()];
  }

  /**
   * Stores a report received at `at` (Unix milliseconds). Resolves once the report would survive a crash. Rejects with
   * an HttpError if the report is too large.
   */
  take(name: string, report: HostReport, at: number, isHub = false): Promise<Taken> {
    return this.#inTurn.run([name], async () => {
      const before = this.#states.get(name);
      const state = await this.#save(name, report, at, isHub).catch((error: unknown) => {
        const isRefused = error instanceof HttpError || error instanceof ValueRefusal;
        if (!isRefused) for (const listener of this.#lossListeners) listener();
        throw error;
      });
      this.#states.set(name, state);
      this.#callListeners(name);
      return { state, before };
    });
  }

  /** Returns the rows of a ring between two Unix times, both inclusive. */
  readRows(name: string, step: number, from: number, to: number): Promise<RingRow[]> {
    return this.#store.read(name, step, from, to);
  }

  delete(name: string): Promise<void> {
    return this.#inTurn.run([name], async () => {
      this.#states.delete(name);
      await this.#store.delete(name);
    });
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async #save(name: string, report: HostReport, at: number, isHub: boolean): Promise<HostState> {
    const { state, rows } = await this.#fold(name, report, at, isHub);
    const body = JSON.stringify(state);
    assertStorable(name, body);
    await this.#store.save(state, body, rows);
    return state;
  }

  #callListeners(name: string): void {
    for (const listener of this.#listeners) listener(name);
  }

  async #fold(
    name: string,
    { kept = [], processes, time, ...received }: HostReport,
    at: number,
    isHub: boolean,
  ): Promise<{ state: HostState; rows: RingRow[] }> {
    const before = this.#states.get(name);
    const report = { ...received, readings: dropHiddenDisks(received.readings) };
    const now = Math.floor(at / 1000);
    const clock = Date.parse(time);
    const disks = assignDisks(before?.disks ?? [], report.readings.disks ?? [], now);
    const rows = listSteps(before, now).map(
      (time): RingRow => ({ step: rings[0].step, time, values: toRow(report.readings, disks) }),
    );
    const minutes = new Map<number, RingRow>();
    for (const each of kept) {
      const age = Math.floor((clock - Date.parse(each.time)) / 1000);
      const row = { step: rings[1].step, time: align(now - age, rings[1].step), values: toRow(each.readings, disks) };
      // The row's time is too old, or in the future even by the host's own clock.
      if (age >= 0 && isInRing(row, now)) minutes.set(row.time, row);
    }
    rows.push(...minutes.values());
    // After a long silence, the slots of old means already belong to newer rows.
    rows.push(...(await this.#addMeans(name, before, rows, now)).filter((row) => isInRing(row, now)));
    const silence = before !== undefined && at - before.at > toLateMs(this.#options.silentMs());
    const state: HostState = {
      name,
      at,
      skewMs: Number.isNaN(clock) ? 0 : clock - at,
      report,
      processes: processes ? { at, data: processes } : (before?.processes ?? null),
      stoppedAt: report.isStopping ? at : null,
      upSince: before === undefined || silence || before.stoppedAt !== null ? at : (before.upSince ?? before.at),
      lastSilence: silence ? { from: before.at, until: at } : (before?.lastSilence ?? null),
      machines: toMachines(before?.machines ?? [], { id: report.machineId, hostname: report.hostname, at }),
      disks,
      ...toLine(before, rows, now),
      isHub,
    };
    return { state, rows };
  }

  /** Returns one-minute and ten-minute means, both for steps that have ended and for steps with stored readings. */
  async #addMeans(
    name: string,
    before: HostState | undefined,
    rows: readonly RingRow[],
    now: number,
  ): Promise<RingRow[]> {
    const means: RingRow[] = [];
    const [fine, minutes, coarse] = rings;
    const last = before && Math.floor(before.at / 1000);
    if (last !== undefined && align(last, minutes.step) < align(now, minutes.step)) {
      const from = align(last, minutes.step);
      const found = await this.#store.read(name, fine.step, from, from + minutes.step - fine.step);
      // A stored reading is the mean of a whole minute.
      const isKept = rows.some(({ step, time }) => step === minutes.step && time === from);
      if (found.length > 0 && !isKept)
        means.push({ step: minutes.step, time: from, values: toMean(found.map(({ values }) => values)) });
    }
    const changed = [...rows.filter(({ step }) => step === minutes.step), ...means];
    const current = align(now, coarse.step);
    for (const from of new Set(changed.map(({ time }) => align(time, coarse.step)))) {
      const isOver = from < current;
      if (!isOver) continue;
      const own = changed.filter(({ time }) => align(time, coarse.step) === from);
      const stored = await this.#store.read(name, minutes.step, from, from + coarse.step - minutes.step);
      const others = stored.filter(({ time }) => !own.some((each) => each.time === time));
      means.push({
        step: coarse.step,
        time: from,
        values: toMean([...others, ...own].map(({ values }) => values)),
      });
    }
    return means;
  }
}

/**
 * Returns the steps that a report covers: its own step, and the previous step if that began after the previous report.
 */
const listSteps = (before: HostState | undefined, now: number): number[] => {
  const { step } = rings[0];
  const own = align(now, step);
  // With a report every ten seconds, a step is skipped if one report arrives just before the step and the next just
  // after it.
  const isSkipped = before !== undefined && align(Math.floor(before.at / 1000), step) === own - 2 * step;
  return isSkipped && now - before.at / 1000 < 1.5 * step ? [own - step, own] : [own];
};

/** @throws HttpError if the state is too large for any storage */
const assertStorable = (name: string, body: string): void => {
  if (Buffer.byteLength(body) <= maxStateBytes) return;
  throw new HttpError(
    'too-large',
    `The report of host ${name} is too large: its checks, processes and disks together must not exceed 128 KiB`,
  );
};

/** Lists the machines that report under a name, starting with the machine that has just reported. */
const toMachines = (known: readonly ReportingMachine[], reporting: ReportingMachine): ReportingMachine[] => {
  const recent = known.filter(({ at }) => reporting.at - at < machineMs);
  const others = recent.filter(({ id }) => id !== reporting.id).slice(0, mostMachines - 1);
  const before = recent.findIndex(({ id }) => id === reporting.id);
  const hasReturned = others.length > 0 && (before > 0 || recent[before]?.hasReturned === true);
  return [{ ...reporting, ...(hasReturned && { hasReturned }) }, ...others];
};

/** Returns the CPU line of the last hour, updated with the minutes of a report. */
const toLine = (
  before: HostState | undefined,
  rows: readonly RingRow[],
  now: number,
): Pick<HostState, 'line' | 'lineAt'> => {
  const { step } = rings[1];
  const lineAt = align(now, step) - step;
  const shift = before ? Math.max(0, (lineAt - before.lineAt) / step) : lineLength;
  const shifted = [...(before?.line ?? []), ...Array.from({ length: Math.min(shift, lineLength) }, () => null)];
  const line = [...Array.from({ length: lineLength }, () => null), ...shifted].slice(-lineLength);
  for (const { step: each, time, values } of rows) {
    const place = lineLength - 1 - (lineAt - time) / step;
    const cpu = values[0] as number;
    if (each === step && place >= 0 && place < lineLength)
      line[place] = Number.isNaN(cpu) ? null : Math.round(cpu * 1000) / 1000;
  }
  return { line, lineAt: Math.max(lineAt, before?.lineAt ?? 0) };
};
