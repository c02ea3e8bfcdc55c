import type { Cores } from '../support/cores.ts';
import type { Finding } from '../support/finding.ts';
import type { Load } from '../support/load.ts';
import type { Scope } from '../support/scope.ts';
import type { Server } from '../support/server.ts';

/** The means that a row measures with. */
export interface Bench {
  /** Ends together with the row. */
  scope: Scope;
  /** Undefined if there is only one processor. */
  cores: Cores | undefined;
  load: Load;
  rounds: number;
  /** Duration of a round. */
  seconds: number;
  /** True to measure the full size that the goals name, even if it takes long. */
  isFull: boolean;
  /** signalbox with a million tasks, shared by all rows and started on first use. */
  startMillion(): Promise<Server>;
}

/** One benchmark, with or without a comparison. */
export interface Row {
  /** For example `B1`. */
  id: string;
  measure(bench: Bench): Promise<Finding[]>;
}
