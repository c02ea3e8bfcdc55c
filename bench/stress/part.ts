import type { Cores } from '../support/cores.ts';
import type { Finding } from '../support/finding.ts';
import type { Scope } from '../support/scope.ts';

/** One kind of stress test; its findings use its name as their id. */
export interface Part {
  name: string;
  measure(scope: Scope, cores: Cores | undefined): Promise<Finding[]>;
}
