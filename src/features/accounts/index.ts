import { createAccessKey, openFor } from '../../auth/access.ts';
import { ErrorBody } from '../../http/errors.ts';
import { sendJson } from '../../http/json.ts';
import { defineFeature, type Parts } from '../../kit/feature.ts';
import type { KnownUser } from '../../kit/offers.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { SettingKeeper } from '../../kit/setting-keeper.ts';
import { type AccountMemory, openAccountMemory } from './account-memory.ts';
import { createAccounts } from './accounts.ts';
import { type Authenticate, createAuthentication } from './authentication.ts';
import { keyKind } from './key-kind.ts';
import { createKeyRoutes } from './key-routes.ts';
import { createDatabaseUses, createFileUses, createKeyUses } from './key-uses.ts';
import { createOwnAccountRoutes } from './own-account.ts';
import { createRefusedLogins } from './refused-logins.ts';
import { SessionEnds } from './session-ends.ts';
import { createSessionRoutes } from './session-routes.ts';
import { createSessions, issueToken } from './sessions.ts';
import { createSetup, createSetupRoute } from './setup.ts';
import { createSharedSessions } from './shared-sessions.ts';
import { createUserKeeper } from './user-keeper.ts';
import { type Account, userKind } from './user-kind.ts';
import { createUserRoutes } from './user-routes.ts';
import { Credentials, findUserProblems, IssuedToken, loginSettings } from './users.ts';

/** Number of random bytes in a signing key. */
const secretBytes = 32;

/** Milliseconds between two removals of obsolete session ends. */
const removalMs = 10 * 60_000;

const unknownNotice =
  'Accounts cannot be read while the database is unavailable. If no account exists yet, restart the server when the database is back, to get a link that creates the first account.';

/** Feature for accounts: logins that exchange names and passwords for tokens, users, keys, and sessions. */
export const accounts = defineFeature({
  name: 'accounts',
  needs: ['settings'],
  profiles: [
    {
      name: 'login',
      aliases: ['A'],
      mounts: ['/', '/protected'],
      summary: 'login with a password, which returns a token',
      fixedAccess: 'open',
    },
    {
      name: 'accounts',
      mounts: ['/'],
      summary: 'users, keys and sessions',
      fixedAccess: 'closed',
    },
  ],
  settings: loginSettings,
  findProblems: findUserProblems,
  create: async (parts) => {
    const { settings, tokens, keys, secrets, log, clock, storage, offers } = parts;
    const { database } = storage;
    const { settings: store } = offers;
    const memory = await openMemory(parts);
    const users = new SettingKeeper(userKind, { settings: store });
    const sessionEnds = new SessionEnds(store, clock);
    const allAccounts = createAccounts({ secrets, users, sessionEnds, memory, log });
    const sessions = createSessions(clock, allAccounts.findGrant, database && createSharedSessions(database, clock));
    const removals: ((name: string, by: string) => Promise<void>)[] = [];
    const removeOwned = async (name: string, by: string): Promise<void> => {
      for (const remove of removals) await remove(name, by);
    };
    const keeper = createUserKeeper(allAccounts, users, sessionEnds, { clock, removeOwned });
    const notices = [...allAccounts.load(settings), ...(allAccounts.isUnknown() ? [unknownNotice] : [])];
    const listeners: (() => void)[] = [];
    const callListeners = (): void => {
      for (const listener of listeners) listener();
    };
    allAccounts.onChanged(callListeners);
    const setup = createSetup(() => allAccounts.isFirstMissing());
    const keyKeeper = new SettingKeeper(keyKind, { settings: store, configured: keys.listConfigured() });
    keyKeeper.onChanged(() => {
      keys.refresh();
      callListeners();
    });
    const useStore = database ? createDatabaseUses(database) : createFileUses(storage.file('keys.used'));
    const uses = createKeyUses(keys, useStore, log);
    const endAll = async (user: string): Promise<number> => {
      const { at } = await keeper.endSessions(user, user);
      sessions.end(user);
      return at;
    };
    const refused = createRefusedLogins(log);
    const authenticate = createAuthentication(parts, allAccounts, refused.report);
    let removal: NodeJS.Timeout | undefined;
    return {
      profiles: {
        login: [createLoginRoute(authenticate, (...given) => issueToken({ tokens, sessions }, ...given))],
        accounts: [
          createSetupRoute(setup, keeper),
          ...createUserRoutes(allAccounts, users, keeper),
          ...createKeyRoutes({ keeper: keyKeeper, keys, loadUses: uses.load, clock }),
          ...createSessionRoutes({ tokens, sessions, accounts: allAccounts, clock, endAll }),
          ...createOwnAccountRoutes({ accounts: allAccounts, tokens, sessions, authenticate, keeper }),
        ],
      },
      offers: {
        accounts: {
          findGrant: allAccounts.findGrant,
          refresh: async () => {
            if (database) await store.catchUp();
          },
          onChanged: (listener) => void listeners.push(listener),
          listUsers: () => allAccounts.list().map(toKnownUser),
          findUser: (name) => {
            const account = allAccounts.find(name);
            return account && toKnownUser(account);
          },
          findKey: (name) => {
            const known = keyKeeper.find(name);
            return known && { scopes: known.scopes, isConfigured: known.setting === undefined };
          },
          listRuntimeKeys: () => keyKeeper.listRuntime(),
          createKey: async (name, scopes, by) => {
            const { key, entry } = createAccessKey(name, scopes);
            const { name: _, ...value } = entry;
            await keyKeeper.create(name, value, by);
            return key;
          },
          deleteKey: async (name, by) => {
            await keyKeeper.delete(name, by);
          },
          onRemoval: (remove) => void removals.push(remove),
        },
      },
      // Without a login route, nobody needs the passwords.
      notices: parts.base === undefined ? [] : notices,
      invitation: setup.invitation,
      reload: (changed) => {
        // The server has already reread the config file's keys.
        keyKeeper.configure(keys.listConfigured());
        return allAccounts.load(changed);
      },
      start: () => {
        uses.start();
        removal = setInterval(
          () => void sessionEnds.removeOld((name) => allAccounts.find(name) !== undefined),
          removalMs,
        ).unref();
      },
      close: async () => {
        clearInterval(removal);
        refused.close();
        await Promise.all([uses.close(), memory?.settle()]);
      },
    };
  },
});

const toKnownUser = ({ name, role, origin }: Account): KnownUser => ({
  name,
  role,
  isConfigured: origin === 'config',
});

/** Opens the memory of configured accounts. Undefined if no token outlives the process. */
const openMemory = async ({ deriveSecrets, secrets, storage, log }: Parts): Promise<AccountMemory | undefined> => {
  const derived = deriveSecrets('accounts of the settings');
  const keys = derived.length > 0 || secrets.file === undefined ? derived : [secrets.get('jwtSecret', secretBytes)];
  return keys.length === 0 ? undefined : openAccountMemory(storage.file('accounts.seen'), keys, log);
};

type Issue = (
  ...given: Parameters<typeof issueToken> extends [unknown, ...infer Rest] ? Rest : never
) => ReturnType<typeof issueToken>;

const createLoginRoute = (authenticate: Authenticate, issue: Issue): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/auth/login',
    ...openFor('account:own'),
    staysOpen: true,
    summary: 'Exchange a name and a password for a token',
    schema: {
      operationId: 'login',
      body: Credentials,
      response: { 200: IssuedToken, 401: ErrorBody, 429: ErrorBody },
    },
    handler: async (request, reply) => {
      const { Username = '', Password = '' } = request.body;
      return sendJson(reply, issue(await authenticate(Username, Password, request.ip), request));
    },
  });
