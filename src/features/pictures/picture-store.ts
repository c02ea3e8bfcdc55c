import type { Folder } from '../../storage/folder.ts';
import type { Database } from '../../storage/postgres/database.ts';

/** Incident with the time at which its picture was taken, in Unix milliseconds. */
interface PictureTime {
  incident: string;
  at: number;
}

/** Pictures as JSON, by incident id. Methods reject while the store is unavailable. */
export interface PictureStore {
  /** Returns the times of the pictures of this machine that were taken at or after `since`, in Unix milliseconds. */
  listTimes(since: number): Promise<number[]>;
  /** Stores a picture unless the incident already has one. Resolves to the time of the stored picture. */
  add(incident: string, at: number, text: string): Promise<number>;
  /** Resolves to the picture of an incident. Undefined if it has none. */
  read(incident: string): Promise<string | undefined>;
  /** Returns all pictures except the newest `keptCount`. In a database, returns at most 100. */
  listSurplus(keptCount: number): Promise<PictureTime[]>;
  delete(incident: string): Promise<void>;
  list(): Promise<PictureTime[]>;
}

/** Suffix of file names. The part before it is the id of the incident. */
export const pictureSuffix = '.json';

/** Pictures in files, one file per picture. */
export class FilePictureStore implements PictureStore {
  readonly #folder: Folder;
  /** Times of the pictures by incident. They are read on first use. */
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
    await this.#folder.write(incident + pictureSuffix, text);
    known.set(incident, at);
    return at;
  }

  read(incident: string): Promise<string | undefined> {
    return this.#folder.read(incident + pictureSuffix);
  }

  async listSurplus(keptCount: number): Promise<PictureTime[]> {
    const all = await this.list();
    return all.sort((a, b) => a.at - b.at).slice(0, Math.max(0, all.length - keptCount));
  }

  async delete(incident: string): Promise<void> {
    await this.#folder.delete(incident + pictureSuffix);
    (await this.#readTimes()).delete(incident);
  }

  async list(): Promise<PictureTime[]> {
    return Array.from(await this.#readTimes(), ([incident, at]) => ({ incident, at }));
  }

  #readTimes(): Promise<Map<string, number>> {
    this.#known ??= this.#folder
      .list()
      .then(
        (files) =>
          new Map(
            files
              .filter(({ name }) => name.endsWith(pictureSuffix))
              .map(({ name, at }) => [name.slice(0, -pictureSuffix.length), at.getTime()]),
          ),
      )
      .catch((error) => {
        this.#known = undefined;
        throw error;
      });
    return this.#known;
  }
}

/** Pictures in the database that instances share. */
export class SharedPictureStore implements PictureStore {
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
    // Another instance on this machine may have stored a picture first.
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

  async listSurplus(keptCount: number): Promise<PictureTime[]> {
    const text = 'SELECT incident, at FROM signalbox.incident_snapshot ORDER BY at DESC OFFSET $1 LIMIT 100';
    const rows = await this.#database.query({ text, values: [keptCount] });
    return rows.map(({ incident, at }) => ({ incident, at }));
  }

  async delete(incident: string): Promise<void> {
    const text = 'DELETE FROM signalbox.incident_snapshot WHERE incident = $1 RETURNING 1 AS one';
    await this.#database.query({ text, values: [incident] });
  }

  async list(): Promise<PictureTime[]> {
    const text = 'SELECT incident, at FROM signalbox.incident_snapshot';
    const rows = await this.#database.query({ text });
    return rows.map(({ incident, at }) => ({ incident, at }));
  }
}
