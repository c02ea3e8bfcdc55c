import { randomBytes } from 'node:crypto';
import { SettingsError } from '../../config/settings-error.ts';
import type { OpenLog } from '../feature.ts';

/** The name of this data directory in `via`, made on first use: `signalbox/0123456789abcdef`. */
export const readInstanceId = async (openLog: OpenLog): Promise<string> => {
  const journal = await openLog('outbox', { name: 'outbox' });
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
