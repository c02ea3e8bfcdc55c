import { requireKnown } from '../../http/errors.ts';
import type { Route } from '../../kit/route.ts';
import { createSettingRoutes } from '../../kit/setting-routes.ts';
import type { Accounts } from './accounts.ts';
import { ChangedUser, NewUser, ShownUser, UserList } from './schema.ts';
import type { UserKeeper } from './user-keeper.ts';
import { toShownUser, type UserSettingKeeper, userKind } from './user-kind.ts';

/** Without a keeper, users can only be listed. */
export const createUserRoutes = (
  accounts: Accounts,
  users: UserSettingKeeper,
  keeper: UserKeeper | undefined,
): Route[] => {
  const { list, read, create, replace, remove } = createSettingRoutes(userKind, users, toShownUser);
  const all = [
    list(
      { operationId: 'listUsers', summary: 'List users, those of the settings too', response: UserList },
      accounts.list,
    ),
    read({ operationId: 'getUser', summary: 'One user' }, (name) =>
      requireKnown(accounts.find(name), userKind.noun, name, userKind.path),
    ),
  ];
  if (!keeper) return all;
  return [
    ...all,
    create({ operationId: 'createUser', summary: 'Make a user', body: NewUser }, async (given, by) =>
      toShownUser(await keeper.create(given, by)),
    ),
    replace(
      {
        operationId: 'replaceUser',
        summary: 'Give a user another role or password, and log them out everywhere',
        body: ChangedUser,
        ignores: ShownUser,
      },
      async (name, { role, password }, { by, expected }) =>
        toShownUser(await keeper.change(name, { role, password }, by, expected)),
    ),
    remove(
      { operationId: 'deleteUser', summary: 'Delete a user, whose tokens and streams end at once' },
      async (name, { by, expected }) => toShownUser(await keeper.remove(name, by, expected)),
    ),
  ];
};
