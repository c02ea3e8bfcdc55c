import type { Cores } from '../support/cores.ts';
import type { Finding } from '../support/finding.ts';
import type { Load } from '../support/load.ts';
import type { Scope } from '../support/scope.ts';
import type { Server } from '../support/server.ts';

/** What a row measures with. */
export interface Bench {
  /** Ends with the row. */
  scope: Scope;
  /** Undefined where there is one processor. */
  cores: Cores | undefined;
  load: Load;
  rounds: number;
  /** Length of a round. */
  seconds: number;
  /** Whether the size that the goals name is wanted, also where it takes long. */
  isFull: boolean;
  /** signalbox with a million tasks; one for all rows, started when the first asks. */
  startMillion(): Promise<Server>;
}

/** Something that is measured, on its own or side by side with something else. */
export interface Row {
  /** `B1`. */
  id: string;
  measure(bench: Bench): Promise<Finding[]>;
}
