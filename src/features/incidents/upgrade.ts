import { JournalError } from '../../storage/journal/errors.ts';
import type { ProjectionSnapshot } from '../../storage/snapshot.ts';
import type { Storage } from '../../storage/storage.ts';
import type { ActionOn } from './action.ts';
import type { ProjectedIncidents } from './projected-incidents.ts';
import type { Rules } from './rules.ts';
import type { SnapshotEntry } from './snapshot-entries.ts';

/** Actions taken at the same time, in Unix milliseconds. They apply after the alert with the seq `after`. */
export interface OldActions {
  at: number;
  after: number;
  lastNumber: number;
  actions: ActionOn[];
  rules?: Rules;
}

/** Seqs of the last alert and the last action that the old state includes. */
interface OldPlace {
  alertSeq: number;
  actionSeq: number;
}

/** Content of the file that marks the files of version 1.1 as converted. */
const doneMark = Buffer.from('read\n');

/** Incident files in a data directory of version 1.1: a state and an action log. These files are never modified. */
export class FilesOf11 {
  readonly #storage: Storage;
  readonly #state: ProjectionSnapshot;
  #isDone = false;

  constructor(storage: Storage) {
    this.#storage = storage;
    this.#state = storage.snapshot('incidents');
  }

  /**
   * Restores the old state. Resolves to undefined if there is none. A damaged state is reported and lost, as in version
   * 1.1.
   */
  async restoreState(state: ProjectedIncidents, report: (error: Error) => void): Promise<OldPlace | undefined> {
    const entries: (SnapshotEntry & { alertSeq?: number })[] = [];
    const refuse = (damage: string): never => {
      throw new JournalError('damaged', damage);
    };
    try {
      if (await this.#wereConverted()) return undefined;
      const actionSeq = await this.#state.read((entry) => void entries.push(entry as SnapshotEntry), refuse);
      const { alertSeq } = entries.find((entry) => entry.alertSeq !== undefined) ?? {};
      if (actionSeq === undefined || alertSeq === undefined) return undefined;
      // Snapshots contain incidents in the order of their changes.
      const changeOf = (entry: SnapshotEntry): number => ('incident' in entry ? entry.incident.change : -1);
      for (const entry of entries.toSorted((a, b) => changeOf(a) - changeOf(b))) state.restore(entry);
      return { alertSeq, actionSeq };
    } catch (error) {
      report(error as Error);
      return undefined;
    }
  }

  /** Resolves to the actions after a seq, oldest first. Call after `restoreState`. */
  async readActions(seq: number): Promise<OldActions[]> {
    if (await this.#wereConverted()) return [];
    const hasFiles = this.#state.size > 0 || (await this.#has('incidents.jsonl'));
    if (!hasFiles) return [];
    const journal = await this.#storage.log('incidents', { title: 'incident log', awaitsHold: true });
    const actions: OldActions[] = [];
    try {
      for await (const records of journal.readAfter(seq)) actions.push(...(records as unknown as OldActions[]));
    } finally {
      await journal.close();
    }
    return actions;
  }

  /** Marks the files as converted. Later startups then ignore them. */
  async markConverted(): Promise<void> {
    if (this.#isDone) return;
    this.#isDone = true;
    const isNew = !(await this.#wereConverted()) && (await this.#has('incidents.state'));
    if (isNew)
      await this.#storage
        .file('incidents.read')
        .write(doneMark)
        .catch(() => undefined);
  }

  #wereConverted(): Promise<boolean> {
    return this.#has('incidents.read');
  }

  async #has(file: string): Promise<boolean> {
    return (await this.#storage.file(file).read()) !== undefined;
  }
}
