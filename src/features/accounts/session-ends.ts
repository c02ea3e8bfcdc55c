import { toSecond } from '../../auth/token.ts';
import { ownSender } from '../../kit/alert-record.ts';
import type { RuntimeSetting, SettingStore } from '../../kit/setting-store.ts';

/** Kind of runtime setting that ends all sessions of a name. It has no routes and no limits. */
const kind = 'session-end';

/**
 * Maximum number of stored session ends for names without an account. Applies regardless of the clock, because the
 * tokens of such names must stay refused.
 */
const maxCount = 20_000;

interface SessionEnd {
  /** Unix second up to which earlier versions refuse tokens of the name. */
  notBefore: number;
  /**
   * True if the name had no account, so its tokens come from another issuer. Only their times distinguish valid tokens
   * from revoked tokens.
   */
  isForeign?: boolean;
}

export type StoredSessionEnd = RuntimeSetting<SessionEnd>;

/** Stored revocations: runtime settings that refuse all earlier tokens of a name. */
export class SessionEnds {
  readonly #settings: SettingStore;
  readonly #clock: () => Date;

  constructor(settings: SettingStore, clock: () => Date) {
    this.#settings = settings;
    this.#clock = clock;
  }

  find(name: string): StoredSessionEnd | undefined {
    return this.#settings.find<SessionEnd>(kind, name);
  }

  /** Revokes all tokens of a name. `isForeign` is true if the tokens come from another issuer. */
  put(name: string, by: string, isForeign: boolean): Promise<StoredSessionEnd> {
    const value: SessionEnd = { notBefore: toSecond(this.#clock()), ...(isForeign && { isForeign }) };
    return this.#settings.put(kind, name, value, by, undefined, { isRevocation: true });
  }

  /** Deletes the oldest session ends of names without an account. Several instances may do so concurrently. */
  async removeOld(hasAccount: (name: string) => boolean): Promise<void> {
    const gone = this.#settings.list(kind).filter(({ name }) => !hasAccount(name));
    const sorted = gone.sort((one, other) => one.version - other.version);
    for (const { name, version } of sorted.slice(0, Math.max(0, sorted.length - maxCount))) {
      // The sessions may have been ended again in the meantime.
      await this.#settings.delete(kind, name, ownSender, [version]).catch(() => undefined);
    }
  }

  /** Calls the listener after sessions have been ended, here or on another instance. */
  onChanged(listener: () => void): void {
    this.#settings.onChanged(kind, listener);
  }
}
