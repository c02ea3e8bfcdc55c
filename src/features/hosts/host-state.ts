import type { HostProcess, HostReport } from '../../kit/host-report/report-schema.ts';
import type { DiskColumns } from './columns.ts';
import type { RingRow } from './rings.ts';

/** Machine that has reported under a host's name. */
export interface ReportingMachine {
  id: string;
  hostname: string;
  /** Time of its last report in Unix milliseconds. */
  at: number;
  /** It reported again after another machine had reported. */
  hasReturned?: true;
}

/** Last known state of a host. Times are Unix milliseconds by the clock of the hub. */
export interface HostState {
  name: string;
  /** Time of the last report. */
  at: number;
  /** Time of the host's clock minus that of the hub. */
  skewMs: number;
  report: Omit<HostReport, 'kept' | 'processes' | 'time'>;
  processes: { at: number; data: readonly HostProcess[] } | null;
  /** Time of an orderly stop after which there was no report. */
  stoppedAt: number | null;
  /** Time of the report after which the host was silent, and of the next one. */
  lastSilence: { from: number; until: number } | null;
  /** The last machine first; several if they report in turn. */
  machines: readonly ReportingMachine[];
  disks: readonly DiskColumns[];
  /** Means of the processor for the last minutes, as shares; null for unknown. `lineAt` is the Unix time of the last. */
  line: readonly (number | null)[];
  lineAt: number;
  /** The machine runs this hub, or another instance of it. */
  isHub: boolean;
}

/** Storage of states and histories. Methods reject if it cannot be used. */
export interface HostStore {
  /** Returns all states that were stored. */
  load(): Promise<HostState[]>;
  /** Returns states that other instances have stored since the states of `known` times; empty if there are none. */
  loadChanged(known: ReadonlyMap<string, HostState>): Promise<HostState[]>;
  /** Resolves once the state and the rows survive the end of the process. */
  save(state: HostState, rows: readonly RingRow[]): Promise<void>;
  /** Returns the rows of a ring from one time to another, both included, in order. */
  read(name: string, step: number, from: number, to: number): Promise<RingRow[]>;
  delete(name: string): Promise<void>;
  close(): Promise<void>;
}
