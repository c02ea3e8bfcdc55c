import Type from 'typebox';
import { SettingsError } from '../../config/settings-error.ts';
import { defineFeature } from '../profile.ts';
import { createLoginRoutes } from './routes.ts';
import { User } from './schema.ts';
import { type Account, createBuiltInAccount, toAccounts } from './users.ts';

interface LoginSettings {
  users?: User[];
  adminPassword?: string;
  readerPassword?: string;
}

const password = (name: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      secret: true,
      description: `Password of ${name}; a random one when not set.`,
    }),
  );

/** Login: names and passwords for tokens. */
export const login = defineFeature({
  name: 'login',
  profiles: [{ name: 'login', alias: 'A', summary: 'passwords for tokens' }],
  settings: {
    adminPassword: password('admin'),
    readerPassword: password('reader'),
    users: Type.Optional(
      Type.Array(User, {
        minItems: 1,
        description: 'Users that replace admin and reader: name, role, passwordHash.',
      }),
    ),
  },
  create: ({ settings, tokens }) => {
    const { accounts, notices } = createAccounts(settings);
    return { profiles: { login: createLoginRoutes(accounts, tokens) }, notices };
  },
});

const createAccounts = ({
  users,
  adminPassword,
  readerPassword,
}: LoginSettings): { accounts: Map<string, Account>; notices: string[] } => {
  if (!users) {
    const builtIn = [
      createBuiltInAccount('admin', 'Admin', adminPassword),
      createBuiltInAccount('reader', 'Reader', readerPassword),
    ];
    return {
      accounts: new Map(builtIn.map(({ account }) => [account.name, account])),
      notices: builtIn.flatMap(({ notice }) => notice ?? []),
    };
  }
  if (adminPassword !== undefined || readerPassword !== undefined) {
    throw new SettingsError([
      'adminPassword and readerPassword have no effect where users is set: remove them',
    ]);
  }
  return { accounts: toAccounts(users), notices: [] };
};
