import type { FastifyBaseLogger } from 'fastify';
import type { SharedIncident } from '../../../kit/incident.ts';
import type { IncidentSource } from '../../../kit/incident-source.ts';

/** Milliseconds before a failed read of the incidents is retried. */
const retryMs = 1000;

interface UnsettledParts {
  source: Pick<IncidentSource, 'listUnsettled'>;
  log: Pick<FastifyBaseLogger, 'error'>;
  /** Called each time all incidents have been read. */
  onLoaded(): Promise<void>;
  /** Called when an incident has been settled or no longer exists. */
  onRemoved(id: string): void;
}

/**
 * Unsettled incidents by id: unresolved incidents, and resolved incidents whose resolution has not yet reached every
 * destination.
 */
export class UnsettledIncidents {
  readonly #parts: UnsettledParts;
  readonly #incidents = new Map<string, SharedIncident>();
  #loading: Promise<void> | undefined;
  #isLoaded = false;
  #isClosed = false;

  constructor(parts: UnsettledParts) {
    this.#parts = parts;
  }

  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  get(id: string): SharedIncident | undefined {
    return this.#incidents.get(id);
  }

  listIds(): string[] {
    return [...this.#incidents.keys()];
  }

  /** Replaces the incident, or removes it if it is settled. Returns false if a newer version is already known. */
  put(incident: SharedIncident): boolean {
    const { id, state, notices, change } = incident;
    const known = this.#incidents.get(id);
    if (known && change < known.change) return false;
    if (state === 'resolved' && Object.keys(notices).length === 0) {
      if (known) this.remove(id);
    } else this.#incidents.set(id, incident);
    return true;
  }

  remove(id: string): void {
    this.#incidents.delete(id);
    this.#parts.onRemoved(id);
  }

  /** Reads all unsettled incidents. Retries until this succeeds. */
  load(): void {
    if (this.#isClosed) return;
    this.#loading ??= this.#read()
      .then(() => {
        this.#isLoaded = true;
        return this.#parts.onLoaded();
      })
      .catch((err: unknown) => {
        this.#parts.log.error({ err }, 'notifications: incidents cannot be read at the moment');
        if (!this.#isClosed) setTimeout(() => this.load(), retryMs).unref();
      })
      .finally(() => {
        this.#loading = undefined;
      });
  }

  /** Clears all incidents and reads them again. Called when the database has lost events. */
  reload(): void {
    for (const id of this.listIds()) this.remove(id);
    // A read in progress may still return events that have since been lost.
    void Promise.resolve(this.#loading).then(() => this.load());
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#loading;
  }

  async #read(): Promise<void> {
    const incidents = await this.#parts.source.listUnsettled();
    if (this.#isClosed) return;
    for (const incident of incidents) this.put(incident);
  }
}
