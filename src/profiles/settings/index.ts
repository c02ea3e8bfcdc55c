import { DatabaseLog } from '../../storage/postgres/database-log.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import { type Concern, defineFeature, type Parts } from '../feature.ts';
import { createAuditRoute } from './routes.ts';
import { LoggedSettings } from './store.ts';
import { settingsTransfer } from './transfer.ts';

/** How many of the last changes are kept in memory, so that what was just stored is folded without reading the disk. */
const recentCount = 1000;

/** Opens the settings that are made at run time, where they can be shared with other instances or in the data directory. */
export const openMadeSettings = async ({
  database,
  openLog,
  clock,
  log,
}: Pick<Parts, 'database' | 'openLog' | 'clock' | 'log'>) => {
  let store: LoggedSettings | undefined;
  let damagedLines = 0;
  const changes: RecordLog = database
    ? await DatabaseLog.open({ database, table: 'setting', clock, retainDays: () => 0 })
    : await openLog('settings', { name: 'settings', recentCount }, ({ type }) => {
        if (type === 'reopened')
          store?.copy().catch((err) => log.error({ err }, 'settings: they are not stored again'));
        return false;
      });
  const onDamage = (lines: number): void => {
    damagedLines += lines;
    log.error({ lines }, 'settings: lines of the log are damaged, so changes are missing');
  };
  const opened = await LoggedSettings.open({ log: changes, clock, onDamage });
  store = opened;
  return {
    changes,
    store: opened,
    countDamaged: () => damagedLines,
    close: async (): Promise<void> => {
      opened.close();
      await changes.close();
    },
  };
};

/** Settings that people make at run time, and who has changed them. */
export const madeSettings = defineFeature({
  name: 'settings',
  profiles: [{ name: 'settings', aliases: ['incidents'], mounts: ['/'], summary: 'who has changed what at run time' }],
  settings: {},
  transfer: settingsTransfer,
  create: async (parts) => {
    const { changes, store, countDamaged, close } = await openMadeSettings(parts);
    return {
      profiles: { settings: [createAuditRoute(changes, store)] },
      offers: { settings: store },
      findConcerns: () => (countDamaged() > 0 ? [describeDamage(countDamaged())] : []),
      isReady: () => store.isReady(),
      reopen: () => changes.reopen(),
      close,
    };
  },
});

const describeDamage = (lines: number): Concern => ({
  area: 'stores',
  severity: 'ERROR',
  text: `${lines} ${lines === 1 ? 'line' : 'lines'} of the settings' log cannot be read, so changes are missing`,
});
