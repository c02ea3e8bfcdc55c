import type { Severity } from './severity.ts';

interface Ranked {
  name: string;
  state: 'silent' | 'late' | 'new' | 'stopped' | 'up';
  worstSeverity: Severity | null;
  openIncidents: number;
}

/** States of hosts and severities of their open incidents, worst first. */
const order = ['silent', 'CRITICAL', 'ERROR', 'late', 'WARNING', 'INFO', 'new', 'stopped', 'up'] as const;

const rankHost = ({ state, worstSeverity }: Ranked): number =>
  Math.min(order.indexOf(state), worstSeverity === null ? order.length : order.indexOf(worstSeverity));

/** Order of names: numbers by value, so that web-2 comes before web-10. */
const names = new Intl.Collator('en', { numeric: true });

/** Compares hosts for sorting: worst first, then by number of incidents, then by name. */
export const compareHosts = (one: Ranked, other: Ranked): number =>
  rankHost(one) - rankHost(other) || other.openIncidents - one.openIncidents || names.compare(one.name, other.name);
