import type { AlertSource, RaisedAlert } from './alert-source.ts';

/** Id and level of a firing alert. */
interface FiringAlert {
  id: string;
  level: string;
}

/** Alert without the members that differ between a firing alert and its resolution. */
export type RaisedText = Omit<RaisedAlert, 'format' | 'level' | 'status' | 'resolves' | 'firingLevel'>;

/** Firing alerts of a format. Each alert is raised once and resolved once, even if the process restarts in between. */
export class RaisedAlerts {
  readonly #alerts: Pick<AlertSource, 'raise' | 'listRaised'>;
  readonly #format: string;
  /** Firing alerts. Undefined until the log has been read. */
  #firing: Map<string, FiringAlert> | undefined;

  constructor(alerts: Pick<AlertSource, 'raise' | 'listRaised'>, format: string) {
    this.#alerts = alerts;
    this.#format = format;
  }

  /** Reads the firing alerts from the log, unless they are already known. */
  async read(): Promise<void> {
    if (this.#firing) return;
    const series = await this.#alerts.listRaised(this.#format);
    this.#firing = new Map([...series].filter(([, { isResolved }]) => !isResolved));
  }

  /** Forgets the firing alerts, because another instance may now raise and resolve alerts. */
  forget(): void {
    this.#firing = undefined;
  }

  isFiring(fingerprint: string): boolean {
    return this.#firing?.has(fingerprint) ?? false;
  }

  /** Returns the fingerprints of the firing alerts. */
  list(): string[] {
    return [...(this.#firing?.keys() ?? [])];
  }

  async raise(level: string, alert: RaisedText): Promise<void> {
    const { id } = await this.#alerts.raise({ format: this.#format, ...alert, level, status: 'firing' });
    this.#firing?.set(alert.fingerprint, { id, level });
  }

  /** Resolves a firing alert. */
  async resolve(alert: RaisedText): Promise<void> {
    const firing = this.#firing?.get(alert.fingerprint);
    if (!firing) return;
    const resolution = { level: 'INFO', status: 'resolved', resolves: firing.id, firingLevel: firing.level } as const;
    await this.#alerts.raise({ format: this.#format, ...alert, ...resolution });
    this.#firing?.delete(alert.fingerprint);
  }
}
