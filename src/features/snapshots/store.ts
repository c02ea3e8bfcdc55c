import type { Folder } from '../../storage/folder.ts';
import type { Database } from '../../storage/postgres/database.ts';

/** Snapshots as JSON, by the ids of their incidents. Methods reject while they cannot be used. */
export interface SnapshotStore {
  /** When snapshots of this machine were taken since then, in Unix milliseconds. */
  listTimes(since: number): Promise<number[]>;
  /** Resolves, when it is stored, to when the snapshot of the incident was taken: this one, or the one that it has already. */
  add(incident: string, at: number, text: string): Promise<number>;
  /** Undefined if there is none. */
  read(incident: string): Promise<string | undefined>;
  /** Of those beyond the newest so many, the oldest ones. */
  listSurplus(most: number): Promise<{ incident: string; at: number }[]>;
  delete(incident: string): Promise<void>;
  /** All incidents that have one. */
  list(): Promise<{ incident: string; at: number }[]>;
}

const suffix = '.json';

/** A file for each. */
export class FileSnapshotStore implements SnapshotStore {
  readonly #folder: Folder;
  /** When each was taken, by incident; read when it is first needed. */
  #known: Promise<Map<string, number>> | undefined;

  constructor(folder: Folder) {
    this.#folder = folder;
  }

  async listTimes(since: number): Promise<number[]> {
    return [...(await this.#readTimes()).values()].filter((at) => at >= since);
  }

  async add(incident: string, at: number, text: string): Promise<number> {
    const known = await this.#readTimes();
    const earlier = known.get(incident);
    if (earlier !== undefined) return earlier;
    await this.#folder.write(incident + suffix, text);
    known.set(incident, at);
    return at;
  }

  read(incident: string): Promise<string | undefined> {
    return this.#folder.read(incident + suffix);
  }

  async listSurplus(most: number): Promise<{ incident: string; at: number }[]> {
    const all = await this.list();
    return all.sort((a, b) => a.at - b.at).slice(0, Math.max(0, all.length - most));
  }

  async delete(incident: string): Promise<void> {
    await this.#folder.delete(incident + suffix);
    (await this.#readTimes()).delete(incident);
  }

  async list(): Promise<{ incident: string; at: number }[]> {
    return Array.from(await this.#readTimes(), ([incident, at]) => ({ incident, at }));
  }

  #readTimes(): Promise<Map<string, number>> {
    this.#known ??= this.#folder
      .list()
      .then(
        (files) =>
          new Map(
            files
              .filter(({ name }) => name.endsWith(suffix))
              .map(({ name, at }) => [name.slice(0, -suffix.length), at.getTime()]),
          ),
      )
      .catch((error) => {
        this.#known = undefined;
        throw error;
      });
    return this.#known;
  }
}

/** In the database that instances share. */
export class SharedSnapshotStore implements SnapshotStore {
  readonly #database: Pick<Database, 'query'>;
  readonly #machine: string;

  constructor(database: Pick<Database, 'query'>, machine: string) {
    this.#database = database;
    this.#machine = machine;
  }

  async listTimes(since: number): Promise<number[]> {
    const text = 'SELECT at FROM signalbox.incident_snapshot WHERE machine = $1 AND at >= $2';
    const rows = await this.#database.query({ text, values: [this.#machine, since] });
    return rows.map(({ at }) => at);
  }

  async add(incident: string, at: number, text: string): Promise<number> {
    await this.#database.query({
      text: `INSERT INTO signalbox.incident_snapshot (incident, at, machine, body) VALUES ($1, $2, $3, $4)
        ON CONFLICT (incident) DO NOTHING RETURNING 1 AS one`,
      values: [incident, at, this.#machine, text],
    });
    // Another instance on this machine may have come first.
    const [row] = await this.#database.query({
      text: 'SELECT at FROM signalbox.incident_snapshot WHERE incident = $1',
      values: [incident],
    });
    return row?.at ?? at;
  }

  async read(incident: string): Promise<string | undefined> {
    const text = 'SELECT body FROM signalbox.incident_snapshot WHERE incident = $1';
    const [row] = await this.#database.query({ text, values: [incident] });
    return row?.body;
  }

  async listSurplus(most: number): Promise<{ incident: string; at: number }[]> {
    const text = 'SELECT incident, at FROM signalbox.incident_snapshot ORDER BY at DESC OFFSET $1 LIMIT 100';
    const rows = await this.#database.query({ text, values: [most] });
    return rows.map(({ incident, at }) => ({ incident, at }));
  }

  async delete(incident: string): Promise<void> {
    const text = 'DELETE FROM signalbox.incident_snapshot WHERE incident = $1 RETURNING 1 AS one';
    await this.#database.query({ text, values: [incident] });
  }

  async list(): Promise<{ incident: string; at: number }[]> {
    const text = 'SELECT incident, at FROM signalbox.incident_snapshot';
    const rows = await this.#database.query({ text });
    return rows.map(({ incident, at }) => ({ incident, at }));
  }
}
