import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { parseJsonList } from '../../lib/parse-json.ts';
import { createSerial } from '../../lib/scheduling.ts';
import type { ReplacedFile } from '../../storage/replaced-file.ts';

/** Configured account at the last startup: its name, and a MAC over its role and password. */
type StoredMark = [name: string, mark: string];

/** Configured account. `checked` combines its role with its password or hash. */
interface ConfiguredAccount {
  name: string;
  checked: string;
}

export type AccountMemory = Awaited<ReturnType<typeof openAccountMemory>>;

/**
 * Opens the record of the accounts that were configured at the last startup. It reveals users who may still have a
 * token although they were removed from the config file while the server was stopped. Marks made with any of the keys
 * are valid. New marks use the first key.
 */
export const openAccountMemory = async (
  file: ReplacedFile,
  keys: readonly (Buffer | string)[],
  log: Pick<FastifyBaseLogger, 'warn'>,
) => {
  const stored = parseJsonList(String(await file.read()), isStoredMark);
  const serially = createSerial();
  let written = JSON.stringify(stored);
  const toMark = ({ name, checked }: ConfiguredAccount, key: Buffer | string): Buffer =>
    createHmac('sha256', key)
      .update(JSON.stringify([name, checked]))
      .digest();
  const isSame = (account: ConfiguredAccount, mark: string): boolean => {
    const known = Buffer.from(mark, 'base64url');
    return keys.some((key) => {
      const own = toMark(account, key);
      return own.length === known.length && timingSafeEqual(own, known);
    });
  };
  return {
    /**
     * Returns the names of accounts that have been removed from the config file, or whose role or password has changed
     * there.
     */
    listChanged: (accounts: readonly ConfiguredAccount[]): string[] =>
      stored.flatMap(([name, mark]) => {
        const account = accounts.find((one) => one.name === name);
        return account && isSame(account, mark) ? [] : [name];
      }),
    /**
     * Stores the accounts. Call only after their revocations are stored. If storing fails, the next startup revokes
     * again.
     */
    store: (accounts: readonly ConfiguredAccount[], revoked: Promise<unknown>): void => {
      const [key = ''] = keys;
      const marks = accounts.map((one): StoredMark => [one.name, toMark(one, key).toString('base64url')]);
      const text = JSON.stringify(marks.sort(([one], [other]) => (one < other ? -1 : 1)));
      serially(async () => {
        await revoked;
        if (text === written) return;
        await file.write(Buffer.from(text));
        written = text;
      }).catch((err: unknown) => log.warn({ err }, 'login: the configured accounts could not be stored'));
    },
    /** Resolves once all writes have ended. */
    settle: (): Promise<unknown> => serially(async () => undefined),
  };
};

const isStoredMark = (one: unknown): one is StoredMark =>
  Array.isArray(one) && typeof one[0] === 'string' && typeof one[1] === 'string';
