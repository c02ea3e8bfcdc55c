import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseJson } from '../../lib/parse-json.ts';
import { passIfGone } from '../../storage/journal/errors.ts';
import { rowLength } from './columns.ts';
import type { HostState, HostStore } from './host-state.ts';
import { findRing, type RingRow, rings, toSlot } from './rings.ts';

/** Begins each file; its number changes with the columns. */
const magic = 'signalbox host 1\n';

/** Bytes before the rings: the first line, and the state as JSON, which ends with a line break. */
const headBytes = 128 * 1024;

/** Bytes of a row: its time, and the values. */
const rowBytes = 4 * (1 + rowLength);

const ending = '.host';

const ringAt = (step: number): number => {
  let at = headBytes;
  for (const ring of rings) {
    if (ring.step === step) break;
    at += ring.size * rowBytes;
  }
  return at;
};

/**
 * One file of fixed size for each host, in which rows are replaced in place. A file that cannot be read is like a host
 * that never reported.
 */
export class HostFiles implements HostStore {
  readonly #directory: string;
  /** Open files by host. */
  readonly #files = new Map<string, Promise<FileHandle>>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  async load(): Promise<HostState[]> {
    const found = await readdir(this.#directory).catch(passIfGone);
    const names = (found ?? []).filter((name) => name.endsWith(ending));
    const states: HostState[] = [];
    for (const file of names) {
      const name = file.slice(0, -ending.length);
      const state = await this.#readState(name).catch(() => undefined);
      if (state) states.push(state);
    }
    return states;
  }

  async loadChanged(): Promise<HostState[]> {
    return [];
  }

  async save(state: HostState, rows: readonly RingRow[]): Promise<void> {
    const file = await this.#open(state.name);
    const head = Buffer.from(`${magic}${JSON.stringify(state)}\n`);
    if (head.length > headBytes) throw new Error(`the state of host ${state.name} is too large`);
    for (const { step, time, values } of rows) {
      const ring = findRing(step);
      const bytes = Buffer.alloc(rowBytes);
      bytes.writeUInt32LE(time, 0);
      for (const [column, value] of values.entries()) bytes.writeFloatLE(value, 4 * (1 + column));
      await file.write(bytes, 0, rowBytes, ringAt(step) + rowBytes * toSlot(ring, time));
    }
    await file.write(head, 0, head.length, 0);
  }

  async read(name: string, step: number, from: number, to: number): Promise<RingRow[]> {
    const ring = findRing(step);
    const file = await this.#open(name);
    const first = Math.max(from, to - (ring.size - 1) * step);
    const count = (to - first) / step + 1;
    if (count <= 0) return [];
    const slot = toSlot(ring, first);
    // The rows of the last slots, then those of the first slots.
    const before = Math.min(count, ring.size - slot);
    const bytes = Buffer.alloc(count * rowBytes);
    await file.read(bytes, 0, before * rowBytes, ringAt(step) + rowBytes * slot);
    if (count > before) await file.read(bytes, before * rowBytes, (count - before) * rowBytes, ringAt(step));
    const rows: RingRow[] = [];
    for (let index = 0; index < count; index += 1) {
      const time = first + index * step;
      if (bytes.readUInt32LE(index * rowBytes) !== time) continue;
      const at = index * rowBytes + 4;
      const values = Float32Array.from({ length: rowLength }, (_, column) => bytes.readFloatLE(at + 4 * column));
      rows.push({ step, time, values });
    }
    return rows;
  }

  async delete(name: string): Promise<void> {
    await this.#closeFile(name);
    await rm(this.#path(name), { force: true });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#files.keys()].map((name) => this.#closeFile(name)));
  }

  #path(name: string): string {
    return join(this.#directory, `${name}${ending}`);
  }

  #open(name: string): Promise<FileHandle> {
    const known = this.#files.get(name);
    if (known) return known;
    const opened = openFile(this.#path(name));
    this.#files.set(name, opened);
    opened.catch(() => this.#files.delete(name));
    return opened;
  }

  async #closeFile(name: string): Promise<void> {
    const file = this.#files.get(name);
    this.#files.delete(name);
    await (await file?.catch(() => undefined))?.close();
  }

  async #readState(name: string): Promise<HostState | undefined> {
    const file = await this.#open(name);
    const bytes = Buffer.alloc(headBytes);
    await file.read(bytes, 0, headBytes, 0);
    const [first, state = ''] = bytes.toString('utf8').split('\n', 2);
    const found = `${first}\n` === magic ? (parseJson(state) as HostState | undefined) : undefined;
    return found?.name === name ? found : undefined;
  }
}

/** Opens a file for reading and writing; a new one has its whole size at once, but takes space only as it is filled. */
const openFile = async (path: string): Promise<FileHandle> => {
  try {
    return await open(path, 'r+');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const file = await open(path, 'w+', 0o600);
    await file.truncate(headBytes + rings.reduce((sum, { size }) => sum + size * rowBytes, 0));
    return file;
  }
};
