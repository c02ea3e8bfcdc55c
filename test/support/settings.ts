import assert from 'node:assert/strict';
import { LoggedSettings } from '../../src/features/settings/store.ts';
import { openJournal } from '../../src/storage/journal/journal.ts';
import { createFolder } from './folder.ts';
import { atEnd, type Scope } from './scope.ts';

/** Opens runtime settings in the test's folder. */
export const openTestSettings = async (t: Scope): Promise<LoggedSettings> => {
  const log = await openJournal({ directory: createFolder(t), name: 'settings', minFreeBytes: 0, recentCount: 100 });
  const [onBroken, onDamage, onUnsaved] = [() => undefined, assert.fail, assert.fail];
  const settings = await LoggedSettings.open({ log, clock: () => new Date(), onBroken, onDamage, onUnsaved });
  atEnd(t, async () => {
    await settings.close();
    await log.close();
  });
  return settings;
};
