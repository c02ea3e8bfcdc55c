import { Projection } from './projection.ts';
import type { ProjectionState } from './projection-state.ts';
import type { RecordLog } from './record-log.ts';
import type { ProjectionSnapshot } from './snapshot.ts';

export interface ProjectionStoreParts {
  /** Log of the feature. The store closes it. */
  log: RecordLog;
  snapshot: ProjectionSnapshot;
  /** Log of the program itself. */
  report: Record<'error' | 'warn', (details: object, message: string) => void>;
}

/** Parts of an opened `ProjectionStore`. */
export interface OpenedStore<State extends ProjectionState> {
  log: RecordLog;
  projection: Projection<State>;
}

/**
 * Opens the projection of a feature. It is empty until its database is available. Failures are logged with the name.
 */
export const openProjectionStore = async <State extends ProjectionState>(
  name: string,
  { log, snapshot, report }: ProjectionStoreParts,
  createState: () => State,
): Promise<OpenedStore<State>> => ({
  log,
  projection: await Projection.open({
    log,
    snapshot,
    createState,
    onDamage: (damage) => report.error({ damage }, `${name}: the snapshot is damaged`),
    onUnsaved: (err) => report.warn({ err }, `${name}: the snapshot cannot be written; the log is kept`),
  }),
});

/** Base class for the store of a feature with its own log. Manages the lifecycle and state of the projection. */
export class ProjectionStore<State extends ProjectionState> {
  readonly #log: RecordLog;
  protected readonly projection: Projection<State>;

  protected constructor({ log, projection }: OpenedStore<State>) {
    this.#log = log;
    this.projection = projection;
  }

  /** True if all events have been read and new events can be stored. */
  get isReady(): boolean {
    return this.projection.isReady;
  }

  /** True if all events that are known to be stored have been folded. */
  get isCurrent(): boolean {
    return this.projection.isCurrent;
  }

  get state(): State {
    return this.projection.state;
  }

  catchUp(): Promise<void> {
    return this.projection.catchUp();
  }

  /** Stores a snapshot. A failure is logged, and the log is kept. */
  async save(): Promise<void> {
    await this.projection.save().catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.projection.close();
    await this.#log.close();
  }
}
