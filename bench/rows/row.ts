import type { Cores } from '../support/cores.ts';
import type { Logs } from '../support/fill-log.ts';
import type { Finding } from '../support/finding.ts';
import type { Load } from '../support/load.ts';
import type { Scope } from '../support/scope.ts';

/** The means that rows measure with. */
export interface Bench {
  /** Ends together with the row, and with it all servers of the row. */
  scope: Scope;
  /** Undefined if there is only one processor. */
  cores: Cores | undefined;
  load: Load;
  logs: Logs;
  rounds: number;
  /** Duration of a round. */
  seconds: number;
  /** True to take as long as the goals name. */
  isLong: boolean;
}

/** Rows that are measured together. */
export interface Row {
  /** For example `B1`. */
  ids: readonly string[];
  measure(bench: Bench): Promise<Finding[]>;
}
