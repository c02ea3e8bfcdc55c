import type { Static, TObject } from 'typebox';
import { defineFeature } from '../feature.ts';
import { createLoginLimits } from './limits.ts';
import { createLoginRoutes } from './routes.ts';
import { loginSettings } from './settings.ts';
import { type Account, createBuiltInAccount, findUserProblems, toAccounts } from './users.ts';

type LoginSettings = Static<TObject<typeof loginSettings>>;

/** Login: names and passwords for tokens. */
export const login = defineFeature({
  name: 'login',
  profiles: [{ name: 'login', alias: 'A', mounts: ['/', '/protected'], summary: 'passwords for tokens' }],
  settings: loginSettings,
  findProblems: findUserProblems,
  create: ({ settings, tokens, log }) => {
    const { accounts, notices } = createAccounts(settings);
    const limits = createLoginLimits(toLimits(settings), readSeconds, (ip) =>
      log.warn({ ip }, 'login: further wrong ones from this address are delayed'),
    );
    return { profiles: { login: createLoginRoutes({ accounts, tokens, limits }) }, notices };
  },
});

const createAccounts = ({
  users,
  adminPassword,
  readerPassword,
}: LoginSettings): { accounts: Map<string, Account>; notices: string[] } => {
  if (users) return { accounts: toAccounts(users), notices: [] };
  const builtIn = [
    createBuiltInAccount('admin', 'Admin', adminPassword),
    createBuiltInAccount('reader', 'Reader', readerPassword),
  ];
  return {
    accounts: toAccounts(builtIn.map(({ account }) => account)),
    notices: builtIn.flatMap(({ notice }) => notice ?? []),
  };
};

/** Not the time of day, which can be set. */
const readSeconds = (): number => performance.now() / 1000;

const toLimits = (settings: LoginSettings) => ({
  perAddress: settings.loginTriesPerAddress,
  perUser: settings.loginTriesPerUser,
  inTotal: settings.loginTriesInTotal,
  maxDelay: settings.loginMaxDelay,
});
