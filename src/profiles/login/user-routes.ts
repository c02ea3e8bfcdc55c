import type { FastifyReply } from 'fastify';
import { callerOf } from '../../auth/guard.ts';
import { ErrorBody, requireKnown } from '../../http/errors.ts';
import { sendJson } from '../../http/json.ts';
import { ifMatchHeader, readIfMatch } from '../../http/text-forms.ts';
import { setMadeVersion, toMadeFacts } from '../made-facts.ts';
import { assertOwnMembers } from '../own-members.ts';
import { defineRoute, type Route } from '../route.ts';
import type { Account, Accounts } from './accounts.ts';
import { ChangedUser, NewUser, ShownUser, UserList, UserParams } from './schema.ts';
import type { UserKeeper } from './user-keeper.ts';

const withVersion = { ETag: "The user's version, in quotes." };

/** Without a keeper, users can only be listed. */
export const createUserRoutes = (accounts: Accounts, keeper: UserKeeper | undefined): Route[] => [
  createListRoute(accounts),
  createReadRoute(accounts),
  ...(keeper ? [createAddRoute(keeper), createChangeRoute(keeper), createRemoveRoute(keeper)] : []),
];

const createListRoute = (accounts: Accounts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/users',
    access: 'admin',
    summary: 'List users, those of the settings too',
    schema: { operationId: 'listUsers', response: { 200: UserList } },
    handler: async (_request, reply) => {
      const data = accounts.list().map(toShownUser);
      return sendJson(reply, { count: data.length, data });
    },
  });

const createReadRoute = (accounts: Accounts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/users/:user',
    access: 'admin',
    summary: 'One user',
    headers: { response: withVersion },
    schema: { operationId: 'getUser', params: UserParams, response: { 200: ShownUser, 404: ErrorBody } },
    handler: async ({ params: { user: name } }, reply) =>
      sendUser(reply, requireKnown(accounts.find(name), 'User', name, '/api/users')),
  });

const createAddRoute = (keeper: UserKeeper): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/users',
    access: 'admin',
    summary: 'Make a user',
    headers: { response: withVersion },
    schema: { operationId: 'createUser', body: NewUser, response: { 201: ShownUser, 409: ErrorBody } },
    handler: async (request, reply) => {
      assertOwnMembers(request.body, NewUser);
      const { name, role, password } = request.body;
      return sendUser(reply.code(201), await keeper.create({ name, role, password }, callerOf(request)));
    },
  });

const createChangeRoute = (keeper: UserKeeper): Route =>
  defineRoute({
    method: 'PUT',
    path: '/api/users/:user',
    access: 'admin',
    summary: 'Give a user another role or password, and log them out everywhere',
    headers: { request: ifMatchHeader, response: withVersion },
    schema: {
      operationId: 'replaceUser',
      params: UserParams,
      body: ChangedUser,
      response: { 200: ShownUser, 404: ErrorBody, 409: ErrorBody, 412: ErrorBody },
    },
    handler: async (request, reply) => {
      const expected = readIfMatch(request.headers);
      assertOwnMembers(request.body, ChangedUser, ShownUser);
      const { role, password } = request.body;
      const { user: name } = request.params;
      return sendUser(reply, await keeper.change(name, { role, password }, callerOf(request), expected));
    },
  });

const createRemoveRoute = (keeper: UserKeeper): Route =>
  defineRoute({
    method: 'DELETE',
    path: '/api/users/:user',
    access: 'admin',
    summary: 'Delete a user, whose tokens and streams end at once',
    headers: { request: ifMatchHeader },
    schema: {
      operationId: 'deleteUser',
      params: UserParams,
      response: { 200: ShownUser, 404: ErrorBody, 409: ErrorBody, 412: ErrorBody },
    },
    handler: async (request, reply) => {
      const expected = readIfMatch(request.headers);
      return sendJson(reply, toShownUser(await keeper.remove(request.params.user, callerOf(request), expected)));
    },
  });

export const sendUser = (reply: FastifyReply, account: Account): void =>
  sendJson(setMadeVersion(reply, account.made), toShownUser(account));

/** Without the password's hash. */
const toShownUser = ({ name, role, origin, made }: Account): ShownUser => ({
  ...{ name, role, origin },
  ...toMadeFacts(made),
});
