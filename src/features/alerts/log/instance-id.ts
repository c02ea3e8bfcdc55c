import { randomBytes } from 'node:crypto';
import { SettingsError } from '../../../config/settings-error.ts';
import type { Storage } from '../../../storage/storage.ts';

/**
 * Reads the name of this data directory in `via`, such as `signalbox/0123456789abcdef`. Creates the name on first use.
 */
export const readInstanceId = async (storage: Storage): Promise<string> => {
  const journal = await storage.log('outbox', { title: 'outbox' });
  try {
    const listing = await journal.listLast(1);
    for await (const { instance } of listing.records()) return String(instance);
    const instance = `signalbox/${randomBytes(8).toString('hex')}`;
    await journal.append({ instance }).catch(({ message }: Error) => {
      throw new SettingsError([`dataDir: ${message}`]);
    });
    return instance;
  } finally {
    await journal.close();
  }
};
