import { needs } from '../../auth/access.ts';
import { requireKnown } from '../../http/errors.ts';
import { createMadeRoutes, toMadeFacts } from '../../kit/made-routes.ts';
import { assertOwnMembers } from '../../kit/own-members.ts';
import type { Route } from '../../kit/route.ts';
import type { Account, Accounts } from './accounts.ts';
import { ChangedUser, NewUser, ShownUser, UserList, UserParams } from './schema.ts';
import type { UserKeeper } from './user-keeper.ts';

const kind = {
  path: '/api/users',
  params: UserParams,
  shape: ShownUser,
  noun: 'user',
  reading: needs('accounts:manage'),
  changing: { ...needs('accounts:manage'), changesAccess: true },
};
const { list, read, create, replace, remove } = createMadeRoutes<ShownUser>(kind);

/** Without a keeper, users can only be listed. */
export const createUserRoutes = (accounts: Accounts, keeper: UserKeeper | undefined): Route[] => [
  list(
    { operationId: 'listUsers', summary: 'List users, those of the settings too', response: UserList },
    () => accounts.list(),
    toShownUser,
  ),
  read({ operationId: 'getUser', summary: 'One user' }, (name) =>
    toShownUser(requireKnown(accounts.find(name), 'User', name, '/api/users')),
  ),
  ...(keeper ? createChangingRoutes(keeper) : []),
];

const createChangingRoutes = (keeper: UserKeeper): Route[] => [
  create({ operationId: 'createUser', summary: 'Make a user', body: NewUser }, async (given, by) => {
    assertOwnMembers(given, NewUser);
    const { name, role, password } = given;
    return toShownUser(await keeper.create({ name, role, password }, by));
  }),
  replace(
    {
      operationId: 'replaceUser',
      summary: 'Give a user another role or password, and log them out everywhere',
      body: ChangedUser,
    },
    async (name, given, { by, expected }) => {
      assertOwnMembers(given, ChangedUser, ShownUser);
      const { role, password } = given;
      return toShownUser(await keeper.change(name, { role, password }, by, expected));
    },
  ),
  remove(
    { operationId: 'deleteUser', summary: 'Delete a user, whose tokens and streams end at once' },
    async (name, { by, expected }) => toShownUser(await keeper.remove(name, by, expected)),
  ),
];

/** Without the password's hash. */
export const toShownUser = ({ name, role, origin, made }: Account): ShownUser => ({
  name,
  role,
  origin,
  ...toMadeFacts(made),
});
