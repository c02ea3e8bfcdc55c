import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { passIfGone } from './journal/errors.ts';
import { createSync } from './journal/files.ts';

/**
 * Folder of files of fixed size that are overwritten in place. Completed writes survive a crash of the process, but a
 * power cut may lose the latest writes. Methods reject if a file cannot be used.
 */
export class FixedFiles {
  readonly #directory: string;
  readonly #ending: string;
  readonly #bytes: number;
  /** Open files by name. */
  readonly #files = new Map<string, Promise<FileHandle>>();

  /** Creates the folder. `ending` is the extension of the files on disk. */
  constructor(directory: string, ending: string, bytes: number) {
    this.#directory = directory;
    this.#ending = ending;
    this.#bytes = bytes;
  }

  /** Lists the names of the files in order, without the ending. */
  async list(): Promise<string[]> {
    const found = (await readdir(this.#directory).catch(passIfGone)) ?? [];
    const own = found.filter((name) => name.endsWith(this.#ending));
    return own.map((name) => name.slice(0, -this.#ending.length)).sort();
  }

  /** Reads `length` bytes at an offset. Bytes that were never written are 0. Does not create a missing file. */
  async read(name: string, at: number, length: number): Promise<Buffer> {
    const bytes = Buffer.alloc(length);
    const exists = this.#files.has(name) || (await stat(this.#path(name)).catch(passIfGone)) !== undefined;
    if (exists) await (await this.#open(name)).read(bytes, 0, length, at);
    return bytes;
  }

  async write(name: string, at: number, bytes: Uint8Array): Promise<void> {
    await (await this.#open(name)).write(bytes, 0, bytes.length, at);
  }

  /** Resolves when everything written would survive a power cut. */
  async sync(): Promise<void> {
    for (const file of this.#files.values()) await (await file).sync();
    if (this.#files.size > 0) await createSync(true).directory(this.#directory);
  }

  async delete(name: string): Promise<void> {
    await this.#closeFile(name);
    await rm(this.#path(name), { force: true });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#files.keys()].map((name) => this.#closeFile(name)));
  }

  #path(name: string): string {
    return join(this.#directory, `${name}${this.#ending}`);
  }

  #open(name: string): Promise<FileHandle> {
    const known = this.#files.get(name);
    if (known) return known;
    const opened = this.#openFile(this.#path(name));
    this.#files.set(name, opened);
    opened.catch(() => this.#files.delete(name));
    return opened;
  }

  /** Opens a file. A new file has its full size immediately, but takes up space only as it is filled. */
  async #openFile(path: string): Promise<FileHandle> {
    try {
      return await open(path, 'r+');
    } catch (error) {
      passIfGone(error);
      await mkdir(this.#directory, { recursive: true, mode: 0o700 });
      const file = await open(path, 'w+', 0o600);
      await file.truncate(this.#bytes);
      return file;
    }
  }

  async #closeFile(name: string): Promise<void> {
    const file = this.#files.get(name);
    this.#files.delete(name);
    await (await file?.catch(() => undefined))?.close();
  }
}
