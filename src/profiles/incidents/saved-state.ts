import type { FastifyBaseLogger } from 'fastify';
import type { StateFile } from '../../storage/changes/state-file.ts';
import { JournalError } from '../../storage/journal/errors.ts';
import { createSerial } from '../../storage/scheduling.ts';
import type { Incidents, StateEntry } from './incident-state.ts';

/**
 * The state is stored after so many alerts, and ten more for each incident that is written then, after so many records of
 * actions, and after so long if anything has changed.
 */
const savedAlerts = 100_000;
const savedActions = 2000;
const savedMs = 10 * 60_000;

/** How far the state is: the last alert that was folded, and the last record of actions that was applied. */
export interface StatePlace {
  alertSeq: number;
  actionSeq: number;
}

interface SavedStateParts {
  file: StateFile;
  state: Incidents;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'warn' | 'error'>;
}

/** The state of all incidents on disk, from which a start goes on, and when it is stored again. */
export class SavedState {
  readonly #parts: SavedStateParts;
  readonly #serially = createSerial();
  #place: StatePlace = { alertSeq: 0, actionSeq: 0 };
  #savedAt = 0;
  #isSaving = false;
  #isFailing = false;

  constructor(parts: SavedStateParts) {
    this.#parts = parts;
  }

  /** Where the state on disk is. */
  get place(): Readonly<StatePlace> {
    return this.#place;
  }

  /** Makes the state, which is empty, what is on disk. Resolves to its place; without an alert if there is none, or it is damaged. */
  async restore(): Promise<Pick<StatePlace, 'actionSeq'> & { alertSeq: number | undefined }> {
    const { file, state, log } = this.#parts;
    const entries: StateEntry[] = [];
    const refuse = (damage: string): never => {
      throw new JournalError('damaged', damage);
    };
    const actionSeq = await file
      .read((entry) => void entries.push(entry as StateEntry), refuse)
      .catch((err: unknown) => {
        log.error({ err }, 'incidents: the stored state cannot be read; the alerts of the last day are folded again');
        entries.length = 0;
        return 0;
      });
    return { actionSeq: actionSeq ?? 0, alertSeq: state.restore(entries) };
  }

  /** Notes the place of what was restored. */
  begin(place: StatePlace): void {
    this.#place = place;
    this.#savedAt = this.#now();
  }

  /** How much has happened since makes it worth storing the state again. */
  isDue({ alertSeq, actionSeq }: StatePlace): boolean {
    const alerts = alertSeq - this.#place.alertSeq;
    const actions = actionSeq - this.#place.actionSeq;
    const isMuch = alerts > savedAlerts + 10 * this.#parts.state.size || actions > savedActions;
    return alerts + actions > 0 && (isMuch || this.#now() - this.#savedAt > savedMs) && !this.#isSaving;
  }

  /** Alerts that were folded since are to be deleted; a large state is not stored for that all the time. */
  isWanted(alertSeq: number): boolean {
    const isOld = this.#now() - this.#savedAt >= this.#parts.state.size;
    return alertSeq > this.#place.alertSeq && isOld && !this.#isSaving;
  }

  /** Stores the state as of the place that it has once earlier calls are done; resolves to whether that has worked. */
  save(toPlace: () => StatePlace): Promise<boolean> {
    return this.#serially(async () => {
      const place = toPlace();
      const at = this.#now();
      const { file, state, log } = this.#parts;
      this.#isSaving = true;
      try {
        await file.write(place.actionSeq, state.entries(place.alertSeq));
        this.#place = place;
        this.#isFailing = false;
        return true;
      } catch (err) {
        if (!this.#isFailing) log.warn({ err }, 'incidents: the state cannot be written, so both logs are kept');
        this.#isFailing = true;
        return false;
      } finally {
        this.#savedAt = at;
        this.#isSaving = false;
      }
    });
  }

  /** Resolves once nothing is being stored. */
  async end(): Promise<void> {
    await this.#serially(async () => undefined);
  }

  #now(): number {
    return this.#parts.clock().getTime();
  }
}
