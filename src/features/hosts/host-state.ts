import type { HostProcess, HostReport } from '../../kit/host-report/report-schema.ts';
import type { DiskColumns } from './columns.ts';
import type { RingRow } from './rings.ts';

/** Machine that has reported under the name of a host. */
export interface ReportingMachine {
  id: string;
  hostname: string;
  /** Time of the last report from the machine, in Unix milliseconds. */
  at: number;
  /** Set if the machine reported again after another machine had reported. */
  hasReturned?: true;
}

/** Last known state of a host. Times are Unix milliseconds by the hub's clock. */
export interface HostState {
  name: string;
  /** Time of the last report. */
  at: number;
  /** Milliseconds by which the host's clock is ahead of the hub's clock. */
  skewMs: number;
  report: Omit<HostReport, 'kept' | 'processes' | 'time'>;
  processes: { at: number; data: readonly HostProcess[] } | null;
  /** Time of an orderly stop. Null if the host has reported since then or never stopped. */
  stoppedAt: number | null;
  /** Time of the first report after a stop or a silence. Undefined in states that earlier versions stored. */
  upSince?: number;
  /** Time of the last report before the latest silence, and of the first report after it. */
  lastSilence: { from: number; until: number } | null;
  /** Machines, most recent first. There are several if they take turns reporting. */
  machines: readonly ReportingMachine[];
  disks: readonly DiskColumns[];
  /** CPU means of the last minutes as shares. Null for unknown. `lineAt` is the Unix time of the last mean. */
  line: readonly (number | null)[];
  lineAt: number;
  /** True if the machine runs this hub or another instance of the hub. */
  isHub: boolean;
}

/** Maximum size in bytes of a state as JSON, in any storage. */
export const maxStateBytes = 128 * 1024 - 64;

/** Storage of states and histories. Methods reject while the storage is unavailable. */
export interface HostStore {
  /** Loads all stored states. */
  load(): Promise<HostState[]>;
  /** Loads states that other instances have stored since the times in `known`. Empty if nothing has changed. */
  loadChanged(known: ReadonlyMap<string, HostState>): Promise<HostState[]>;
  /**
   * Saves a state and rows. Resolves once they would survive a crash. `body` is the state as JSON, with at most
   * `maxStateBytes`.
   */
  save(state: HostState, body: string, rows: readonly RingRow[]): Promise<void>;
  /** Returns the rows of a ring between two times, both inclusive, oldest first. */
  read(name: string, step: number, from: number, to: number): Promise<RingRow[]>;
  delete(name: string): Promise<void>;
  close(): Promise<void>;
}
