import { createHash, randomBytes } from 'node:crypto';
import { HttpError } from '../../http/errors.ts';
import type { SettingStore } from '../../kit/setting-store.ts';
import { StoreConflict } from '../../lib/expected-errors.ts';
import { minuteMs } from '../../lib/units.ts';

/** Lifetime of a code, in milliseconds. */
const codeMs = 30 * minuteMs;

const kind = 'host-code';
const prefix = 'sbh_';

/** Stored form of a code, keyed by the name of its host. */
interface StoredCode {
  sha256: string;
  /** Unix milliseconds. */
  endsAt: number;
}

export interface CreatedCode {
  code: string;
  expiresAt: number;
}

/** Enrolment codes. Each host has at most one code, and a code works once. Only hashes of the codes are stored. */
export class HostCodes {
  readonly #settings: SettingStore;
  readonly #clock: () => Date;

  constructor(settings: SettingStore, clock: () => Date) {
    this.#settings = settings;
    this.#clock = clock;
  }

  /** Creates a code for a host. Any earlier code becomes invalid. */
  async create(name: string, by: string): Promise<CreatedCode> {
    const code = `${prefix}${randomBytes(24).toString('base64url')}`;
    const expiresAt = this.#clock().getTime() + codeMs;
    const value: StoredCode = { sha256: hash(code), endsAt: expiresAt };
    await this.#settings.put(kind, name, value, by, undefined, { limit: { count: 1000, plural: 'codes of hosts' } });
    return { code, expiresAt };
  }

  /**
   * Uses up a code. Resolves to the name of its host and its author. Rejects with an HttpError if the code is invalid.
   */
  async use(code: string): Promise<{ name: string; by: string }> {
    const found = await this.#find(code);
    try {
      if (found && (await this.#settings.delete(kind, found.name, found.by, [found.version])))
        return { name: found.name, by: found.by };
    } catch (error) {
      // Another request has just used the code.
      if (!(error instanceof StoreConflict)) throw error;
    }
    throw new HttpError(
      'forbidden',
      'This code is unknown, was used, or is older than 30 minutes: create a new code on the hub with signalbox add-host NAME',
    );
  }

  async end(name: string, by: string): Promise<void> {
    if (this.#settings.find(kind, name)) await this.#settings.delete(kind, name, by);
  }

  async #find(code: string) {
    const sha256 = hash(code);
    const now = this.#clock().getTime();
    const look = () =>
      this.#settings.list<StoredCode>(kind).find(({ value }) => value.sha256 === sha256 && value.endsAt > now);
    const known = look();
    if (known || !code.startsWith(prefix)) return known;
    await this.#settings.catchUp();
    return look();
  }
}

const hash = (code: string): string => createHash('sha256').update(code).digest('hex');
