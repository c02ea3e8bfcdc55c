import { randomUUID } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { toLocalSecond } from '../../lib/local-time.ts';
import { replaceFile } from '../../storage/replaced-file.ts';
import { say } from '../stdio.ts';

/**
 * Maximum number of files in a folder, and maximum size of a file in bytes. Beyond the number, the oldest files are
 * dropped. A file contains an alert in its envelope.
 */
const maxFiles = 1000;
const maxBytes = 16 * 1024 * 1024;
const maxFileBytes = (1024 + 64) * 1024;

const othersWrite = 0o022;

/**
 * Folder in `$XDG_STATE_HOME/signalbox` where commands keep small files for their user. Methods throw an Error if the
 * folder cannot be used or if other accounts could have planted its files. The message is a clause.
 */
export class StateFolder {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  /** Returns the names of the files, sorted. */
  list(): string[] {
    const names = findBase() !== undefined && lstat(this.#path) ? readdirSync(this.#path).sort() : [];
    if (names.length > 0) assertOwn(this.#path);
    return names;
  }

  has(file: string): boolean {
    return this.list().includes(file);
  }

  /**
   * Returns the text of a file. Undefined for a missing file. Empty for anything but a regular file, such as a pipe
   * that could block.
   */
  read(file: string): string | undefined {
    const path = join(this.#path, file);
    try {
      const stats = lstatSync(path);
      return stats.isFile() && stats.size <= maxFileBytes ? readFileSync(path, 'utf8') : '';
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Writes a file and returns the number of older files dropped. */
  write(file: string, text: string): number {
    mkdirSync(this.#path, { recursive: true, mode: 0o700 });
    assertOwn(this.#path);
    replaceFile(join(this.#path, file), text);
    return tolerate('the oldest files could not be deleted', () => this.#dropOldest()) ?? 0;
  }

  /** Removes a file. Does nothing if the file is missing. */
  remove(file: string): void {
    rmSync(join(this.#path, file), { force: true });
  }

  /** Renames an unusable file and returns its new path. */
  setAside(file: string): string {
    const path = join(this.#path, file);
    renameSync(path, `${path}.bad`);
    return `${path}.bad`;
  }

  get #path(): string {
    const base = findBase();
    if (base === undefined) throw new Error('this user has no home directory: set XDG_STATE_HOME to a folder');
    return join(base, 'signalbox', this.#name);
  }

  #dropOldest(): number {
    const files = this.list()
      .flatMap((name) => {
        const stats = lstat(join(this.#path, name));
        return stats && !stats.isDirectory() ? { name, mtimeMs: stats.mtimeMs, size: stats.size } : [];
      })
      .sort((a, b) => a.mtimeMs - b.mtimeMs);
    let bytes = files.reduce((sum, { size }) => sum + size, 0);
    let dropped = 0;
    for (const { name, size } of files) {
      if (files.length - dropped <= maxFiles && bytes <= maxBytes) break;
      this.remove(name);
      bytes -= size;
      dropped += 1;
    }
    return dropped;
  }
}

/**
 * Undelivered messages, each in a file with the URL of its server. `noun` is the word for a message in output to
 * people.
 */
export class UnsentFolder<Kept extends { url: string }> extends StateFolder {
  readonly #noun: string;
  readonly #isWhole: (kept: Kept) => boolean;

  /** `isWhole` returns false or throws for values that this class did not write. */
  constructor(name: string, noun: string, isWhole: (kept: Kept) => boolean) {
    super(name);
    this.#noun = noun;
    this.#isWhole = isWhole;
  }

  /** Stores a message that was due at `at`. Returns the number of older messages dropped. */
  keep(kept: Kept, at: Date): number {
    return this.write(`${String(at.getTime()).padStart(16, '0')}-${randomUUID()}.json`, JSON.stringify(kept));
  }

  /**
   * Yields the messages kept for a server, oldest first. Reads each file only when its turn comes, because another
   * process may deliver the message first. Never throws. A file that can never be delivered is renamed to end in
   * `.bad`.
   */
  *listFor(url: string): Generator<{ kept: Kept; remove(): void }> {
    const noun = this.#noun;
    for (const file of tolerate(`the ${noun}s stored on disk cannot be delivered`, () => this.list()) ?? []) {
      if (!file.endsWith('.json')) continue;
      const text = tolerate(`a ${noun} stored on disk cannot be delivered`, () => this.read(file));
      if (text === undefined) continue;
      const kept = this.#parse(text);
      const remove = (): void =>
        tolerate(`a delivered ${noun} cannot be deleted and will be sent again`, () => this.remove(file));
      if (kept?.url === url) yield { kept, remove };
      if (kept) continue;
      const what = `a file contains no valid ${noun}`;
      tolerate(what, () => say(`${what}: renamed the file to ${this.setAside(file)}`));
    }
  }

  #parse(text: string): Kept | undefined {
    try {
      const kept: Kept = JSON.parse(text);
      return typeof kept.url === 'string' && this.#isWhole(kept) ? kept : undefined;
    } catch {
      return undefined;
    }
  }
}

/** Adds a note for people that the text was sent later than intended. */
export const toLateText = (text: string, at: Date): string =>
  `${text}\n(sent late; happened at ${toLocalSecond(at.getTime())})`;

/**
 * Runs an action that is not essential to the command. If it fails, prints the fault, but only the first fault with a
 * given effect.
 */
export const tolerate = <T>(effect: string, action: () => T): T | undefined => {
  try {
    return action();
  } catch (error) {
    if (!printed.has(effect)) say(`${effect}: ${(error as Error).message}`);
    printed.add(effect);
    return undefined;
  }
};

const printed = new Set<string>();

const lstat = (path: string) => lstatSync(path, { throwIfNoEntry: false });

const assertOwn = (folder: string): void => {
  const stats = lstatSync(folder);
  if (!stats.isDirectory()) throw new Error(`${folder} is not a folder: remove the file`);
  const isOwn = process.getuid === undefined || (stats.uid === process.getuid() && (stats.mode & othersWrite) === 0);
  if (!isOwn) throw new Error(`other accounts can write to ${folder}: remove the folder`);
};

/** Returns the folder for state. Undefined for a user without a home directory. */
const findBase = (): string | undefined => {
  const { XDG_STATE_HOME: given = '' } = process.env;
  if (isAbsolute(given)) return given;
  try {
    return isAbsolute(homedir()) ? join(homedir(), '.local', 'state') : undefined;
  } catch {
    return undefined;
  }
};
