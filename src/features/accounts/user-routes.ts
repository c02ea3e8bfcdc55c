import { requireKnown } from '../../http/errors.ts';
import type { Route } from '../../kit/route.ts';
import { createSettingRoutes } from '../../kit/setting-routes.ts';
import type { Accounts } from './accounts.ts';
import { ChangedUser, NewUser, ShownUser, UserList } from './schema.ts';
import type { UserKeeper } from './user-keeper.ts';
import { toShownUser, type UserSettingKeeper, userKind } from './user-kind.ts';

export const createUserRoutes = (accounts: Accounts, users: UserSettingKeeper, keeper: UserKeeper): Route[] => {
  const { list, read, create, replace, remove } = createSettingRoutes(userKind, users, toShownUser);
  return [
    list(
      { operationId: 'listUsers', summary: 'List users, including those of the settings', response: UserList },
      accounts.list,
    ),
    read({ operationId: 'getUser', summary: 'Get a user' }, (name) =>
      requireKnown(accounts.find(name), userKind.noun, name, userKind.path),
    ),
    create({ operationId: 'createUser', summary: 'Create a user', body: NewUser }, async (given, by) =>
      toShownUser(await keeper.create(given, by)),
    ),
    replace(
      {
        operationId: 'replaceUser',
        summary: 'Change the role or password of a user, and end all sessions of the user',
        body: ChangedUser,
        ignores: ShownUser,
      },
      async (name, { role, password }, { by, expected }) =>
        toShownUser(await keeper.change(name, { role, password }, by, expected)),
    ),
    remove(
      { operationId: 'deleteUser', summary: 'Delete a user and end their tokens and streams' },
      async (name, { by, expected }) => toShownUser(await keeper.remove(name, by, expected)),
    ),
  ];
};
