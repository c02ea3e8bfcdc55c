import type { Static, TObject } from 'typebox';
import { defineFeature } from '../feature.ts';
import { createLoginLimits, createSharedLogins, type Limits } from './limits.ts';
import { createLoginRoutes, createRefusedLogins, loginResults } from './routes.ts';
import { createAccounts, findUserProblems, loginSettings } from './users.ts';

type LoginSettings = Static<TObject<typeof loginSettings>>;

/** Login: exchanges names and passwords for tokens. */
export const login = defineFeature({
  name: 'login',
  profiles: [
    {
      name: 'login',
      aliases: ['A'],
      mounts: ['/', '/protected'],
      summary: 'passwords for tokens',
      fixedAccess: 'open',
    },
  ],
  settings: loginSettings,
  findProblems: findUserProblems,
  findSharingProblems: ({ users, adminPassword, readerPassword }) =>
    users || (adminPassword !== undefined && readerPassword !== undefined)
      ? []
      : ['set users, or adminPassword and readerPassword'],
  create: ({ settings, database, clock, tokens, secrets, log, meters }) => {
    const accounts = createAccounts(secrets, tokens.revoke);
    const limits = createLoginLimits(toLimits(settings), readSeconds, (ip) =>
      log.warn({ ip }, 'login: wrong logins from this address are now delayed'),
    );
    const shared = database && createSharedLogins(database, clock, limits.learn);
    const logins = meters.counter('signalbox_logins_total', 'Logins by result.', ['result'], loginResults);
    const refused = createRefusedLogins(log);
    return {
      profiles: {
        login: createLoginRoutes({ accounts, tokens, limits, shared, logins, refused, readSeconds }),
      },
      notices: accounts.load(settings),
      reload: (changed) => accounts.load(changed),
      close: async () => refused.close(),
    };
  },
});

/** Monotonic, unlike the wall clock. */
const readSeconds = (): number => performance.now() / 1000;

const toLimits = (settings: LoginSettings): Limits => ({
  perAddress: settings.loginTriesPerAddress,
  perUser: settings.loginTriesPerUser,
  inTotal: settings.loginTriesInTotal,
  maxDelay: settings.loginMaxDelay,
});
