import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type { Settings } from '../config/schema.ts';
import { SettingsError } from '../config/settings-error.ts';
import { addUser, type NewAccount } from '../features/accounts/user-keeper.ts';
import { userKind } from '../features/accounts/user-kind.ts';
import { openRuntimeSettings } from '../features/settings/open-settings.ts';
import { ownSender } from '../kit/alert-record.ts';
import { SettingKeeper } from '../kit/setting-keeper.ts';
import { ExpectedError } from '../lib/expected-errors.ts';
import { createMeters } from '../metrics/meters.ts';
import { codeOf } from '../storage/journal/errors.ts';
import { programVersion } from './package-info.ts';
import { openStorage } from './storage.ts';
import { parseStore } from './store.ts';

/**
 * Stores a user for a server with these settings. Throws a SettingsError if the user exists, the password is weak, or a
 * running server uses the data directory.
 */
export const createUser = async (settings: Settings, account: NewAccount, log: FastifyBaseLogger): Promise<void> => {
  assertNotConfigured(settings, account.name);
  if (parseStore(settings.store).kind !== 'postgresql') assertOwnFolder(resolve(settings.dataDir));
  const clock = () => new Date();
  // Instances without a name do not appear in the list of instances.
  const storage = await openStorage(settings, { name: '', version: programVersion, log, meters: createMeters() });
  try {
    const runtime = await openRuntimeSettings({ storage, clock, log }).catch(explainLock);
    try {
      await addUser(new SettingKeeper(userKind, { settings: runtime.store }), account, ownSender, clock);
    } finally {
      await runtime.close();
    }
  } catch (error) {
    if (error instanceof ExpectedError && !(error instanceof SettingsError)) throw new SettingsError([error.message]);
    throw error;
  } finally {
    storage.stop();
    await storage.close();
  }
};

const assertNotConfigured = ({ users, adminPassword, readerPassword }: Settings, name: string): void => {
  const builtIn = [adminPassword === undefined ? [] : 'admin', readerPassword === undefined ? [] : 'reader'].flat();
  const names = users === undefined ? builtIn : (users as { name: string }[]).map((user) => user.name);
  const taken = names.find((one) => one.toLowerCase() === name.toLowerCase());
  if (taken !== undefined)
    throw new SettingsError([`the settings already define a user ${taken}: choose another name`]);
};

/** Refuses to create files as root in the folder of a service, because the service could not write them. */
const assertOwnFolder = (directory: string): void => {
  const owner = readOwner(directory);
  if (process.getuid?.() !== 0 || owner === undefined || owner === 0) return;
  throw new SettingsError([
    `dataDir: ${directory} belongs to another account: run this command as that account, with sudo -u '#${owner}'`,
  ]);
};

/**
 * Returns the user id of the owner. Undefined for a missing folder. If the folder cannot be created, its first use
 * reports that problem.
 */
const readOwner = (directory: string): number | undefined => {
  try {
    return statSync(directory).uid;
  } catch {
    return undefined;
  }
};

const explainLock = (error: unknown): never => {
  if (codeOf((error as Error).cause) !== 'locked') throw error;
  throw new SettingsError([
    'a running server uses this data directory: create users in the console, or stop the server and run this command again',
  ]);
};
