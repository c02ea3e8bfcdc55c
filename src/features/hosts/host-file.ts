import { parseJson } from '../../lib/parse-json.ts';
import { FixedFiles } from '../../storage/fixed-files.ts';
import { rowLength } from './columns.ts';
import type { HostState, HostStore } from './host-state.ts';
import { findRing, type RingRow, rings, toSlot } from './rings.ts';

/** First line of each file. The number changes when the columns change. */
const magic = 'signalbox host 1\n';

/** Bytes before the rings: the first line, followed by the state as JSON (`maxStateBytes`) and a line break. */
export const headBytes = 128 * 1024;

/** Bytes per row: its time and values. */
export const rowBytes = 4 * (1 + rowLength);

const fileBytes = headBytes + rings.reduce((sum, { size }) => sum + size * rowBytes, 0);

/** Returns the offset of the first row of a ring. */
const ringAt = (step: number): number => {
  let at = headBytes;
  for (const ring of rings) {
    if (ring.step === step) break;
    at += ring.size * rowBytes;
  }
  return at;
};

/** Files of fixed size, one per host. A host with an unreadable file counts as a host that has never reported. */
export class HostFiles implements HostStore {
  readonly #files: FixedFiles;

  constructor(directory: string) {
    this.#files = new FixedFiles(directory, '.host', fileBytes);
  }

  async load(): Promise<HostState[]> {
    const states: HostState[] = [];
    for await (const { state } of this.readStates()) if (state) states.push(state);
    return states;
  }

  /** Lists the names of hosts with files, in order. */
  listNames(): Promise<string[]> {
    return this.#files.list();
  }

  /** Reads the state of each host. The state is undefined if the file is unreadable. */
  async *readStates(): AsyncGenerator<{ name: string; state: HostState | undefined }> {
    for (const name of await this.listNames()) {
      yield { name, state: await this.#readState(name).catch(() => undefined) };
    }
  }

  async loadChanged(): Promise<HostState[]> {
    return [];
  }

  async save({ name }: HostState, body: string, rows: readonly RingRow[]): Promise<void> {
    for (const row of rows) await this.addRow(name, row);
    await this.saveState(name, body);
  }

  /** Resolves when everything written would survive a power cut. */
  sync(): Promise<void> {
    return this.#files.sync();
  }

  /** Writes a row of a ring. */
  addRow(name: string, { step, time, values }: RingRow): Promise<void> {
    const bytes = Buffer.alloc(rowBytes);
    bytes.writeUInt32LE(time, 0);
    for (const [column, value] of values.entries()) bytes.writeFloatLE(value, 4 * (1 + column));
    return this.#files.write(name, ringAt(step) + rowBytes * toSlot(findRing(step), time), bytes);
  }

  /** Writes a state. `body` is the state as JSON. */
  saveState(name: string, body: string): Promise<void> {
    return this.#files.write(name, 0, Buffer.from(`${magic}${body}\n`));
  }

  async read(name: string, step: number, from: number, to: number): Promise<RingRow[]> {
    const ring = findRing(step);
    const first = Math.max(from, to - (ring.size - 1) * step);
    const count = (to - first) / step + 1;
    if (count <= 0) return [];
    const slot = toSlot(ring, first);
    // The rows in the last slots come first, then the rows in the first slots.
    const before = Math.min(count, ring.size - slot);
    const bytes = Buffer.concat([
      await this.#files.read(name, ringAt(step) + rowBytes * slot, before * rowBytes),
      ...(count > before ? [await this.#files.read(name, ringAt(step), (count - before) * rowBytes)] : []),
    ]);
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

  delete(name: string): Promise<void> {
    return this.#files.delete(name);
  }

  close(): Promise<void> {
    return this.#files.close();
  }

  async #readState(name: string): Promise<HostState | undefined> {
    const [first, state = ''] = (await this.#files.read(name, 0, headBytes)).toString('utf8').split('\n', 2);
    const found = `${first}\n` === magic ? (parseJson(state) as HostState | undefined) : undefined;
    return found?.name === name ? found : undefined;
  }
}
