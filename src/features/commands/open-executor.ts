import type { Static, TObject } from 'typebox';
import type { Parts } from '../../kit/feature.ts';
import { DatabaseLog } from '../../storage/postgres/database-log.ts';
import { createAudit } from './audit.ts';
import { chooseRunner } from './choose-runner.ts';
import { createExecutor } from './executor.ts';
import type { commandSettings, Execution } from './schema.ts';

interface OpenParts extends Pick<Parts, 'host' | 'clock' | 'storage' | 'powerShellPaths'> {
  settings: Static<TObject<typeof commandSettings>>;
  count(result: string): void;
  /** Called with each stored record of the audit. */
  onRecord?(execution: Execution): void;
}

/**
 * Opens the audit, and the executor of commands on this machine. Rejects with a SettingsError if a setting is unusable.
 */
export const openExecutor = async ({ host, clock, storage, powerShellPaths, settings, count, onRecord }: OpenParts) => {
  const { commandRunner, commandTimeout: timeoutSeconds } = settings;
  const { auditRetainBytes: retainBytes, auditRetainDays: retainDays } = settings;
  const runner = await chooseRunner({ commandRunner, powerShellPaths, host, clock });
  const journal = storage.database
    ? await DatabaseLog.open({ database: storage.database, table: 'audit', clock, retainDays: () => retainDays })
    : await storage.log('commands', { title: 'command audit', retainBytes, retainDays });
  const audit = createAudit(journal, onRecord);
  const executor = createExecutor({ runner, timeoutSeconds, audit, clock, count });
  return {
    executor,
    audit,
    runnerName: runner.name,
    close: async (): Promise<void> => {
      await executor.close();
      await journal.close();
    },
  };
};
