import type { SharedIncident } from '../../kit/incident.ts';
import type { IncidentSource } from '../../kit/incident-source.ts';
import { type Severity, severities } from '../../kit/severity.ts';

/** Unresolved incidents of one host. */
export interface OpenIncidents {
  count: number;
  worst: Severity | null;
}

/** Unresolved incidents by the host name of their alerts. */
export class HostIncidents {
  readonly #source: Pick<IncidentSource, 'listUnsettled' | 'onChanged' | 'onLost'>;
  /** Host name and level of each incident, by id. */
  readonly #open = new Map<string, { hostname: string; level: Severity }>();
  readonly #ids = new Map<string, Set<string>>();

  constructor(source: Pick<IncidentSource, 'listUnsettled' | 'onChanged' | 'onLost'>) {
    this.#source = source;
    source.onChanged((incidents) => this.#take(incidents));
    source.onLost(() => void this.load().catch(() => undefined));
  }

  async load(): Promise<void> {
    this.#open.clear();
    this.#ids.clear();
    this.#take(await this.#source.listUnsettled());
  }

  /** Returns the open incidents of all the given host names together. */
  of(hostnames: readonly string[]): OpenIncidents {
    const ids = new Set(hostnames.flatMap((each) => [...(this.#ids.get(each.toLowerCase()) ?? [])]));
    const levels = [...ids].flatMap((id) => this.#open.get(id)?.level ?? []);
    const [worst = null] = levels.toSorted((a, b) => severities.indexOf(a) - severities.indexOf(b));
    return { count: ids.size, worst };
  }

  #take(incidents: readonly SharedIncident[]): void {
    for (const { id, state, level, hostname: given } of incidents) {
      const hostname = given.toLowerCase();
      const before = this.#open.get(id);
      const others = before && this.#ids.get(before.hostname);
      if (others?.delete(id) && others.size === 0) this.#ids.delete(before?.hostname ?? '');
      this.#open.delete(id);
      if (state === 'resolved' || hostname === '') continue;
      this.#open.set(id, { hostname, level });
      const ids = this.#ids.get(hostname) ?? new Set();
      this.#ids.set(hostname, ids.add(id));
    }
  }
}
