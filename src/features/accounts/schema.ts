import Type, { type Static } from 'typebox';
import { scopes } from '../../auth/rights.ts';
import { settingFacts, settingOrigin } from '../../kit/setting-kind.ts';
import { defineList, defineShape, orNull } from '../../kit/shape.ts';
import { Time } from '../../kit/time.ts';
import { accountOrigin, RoleName } from './users.ts';

const userName = Type.String({
  description: 'Up to 64 letters, digits, `.`, `_`, `@` and `-`; begins with a letter or digit.',
  examples: ['anna'],
});
const password = (description: string) =>
  Type.String({ writeOnly: true, description, examples: ['correct horse battery staple'] });
const usualPassword = password('At least 12 characters that are not easily guessed, at most 128 bytes.');

export const FirstAccount = defineShape('FirstAccount', {
  code: Type.String({ description: 'Code from the link in the startup message.', examples: ['bW9zdCBzZWNyZXQ'] }),
  name: userName,
  password: usualPassword,
});

export const NewUser = defineShape('NewUser', { name: userName, role: RoleName, password: usualPassword });

export const ChangedUser = defineShape('ChangedUser', {
  role: RoleName,
  password: Type.Optional(password('New password; if absent, the password does not change.')),
});

export const ShownUser = defineShape('User', {
  name: Type.String({ examples: ['anna'] }),
  role: RoleName,
  origin: accountOrigin,
  ...settingFacts,
});
export type ShownUser = Static<typeof ShownUser>;

export const UserList = defineList('UserList', 'Users', ShownUser, 'Sorted by name.');

export const UserParams = Type.Object({ user: Type.String({ description: 'Name of a user.', examples: ['anna'] }) });

const keyScopes = Type.Array(Type.Enum(scopes, { type: 'string' }), {
  minItems: 1,
  uniqueItems: true,
  description: 'Scopes of the key.',
  examples: [['alerts:write']],
});

export const NewKey = defineShape('NewKey', {
  name: Type.String({ ...userName, examples: ['grafana'] }),
  scopes: Type.Optional(keyScopes),
  scope: Type.Optional(Type.Enum(scopes, { type: 'string', description: 'A single scope, instead of `scopes`.' })),
});

const keyFields = {
  name: Type.String({ examples: ['grafana'] }),
  scopes: keyScopes,
  origin: settingOrigin,
  lastUsedAt: orNull(Time, 'Time of the last use known to this server.'),
  isUnused: Type.Boolean({ description: 'True if the key has not been used for 90 days.', examples: [false] }),
  ...settingFacts,
};

export const ShownKey = defineShape('Key', keyFields);
export type ShownKey = Static<typeof ShownKey>;

export const CreatedKey = defineShape('CreatedKey', {
  ...keyFields,
  key: Type.String({
    description: 'The key; no other response contains the key.',
    examples: ['sbk_0000000000000000000000000000000000000000000'],
  }),
});

export const KeyList = defineList('KeyList', 'Keys', ShownKey, 'Sorted by name.');

export const KeyParams = Type.Object({ key: Type.String({ description: 'Name of a key.', examples: ['grafana'] }) });

export const ShownSession = defineShape('Session', {
  id: Type.String({ examples: ['7f3cQvE0mX1dJ9aPzq2LbA'] }),
  startedAt: Type.String({ ...Time, description: 'Time of the login.' }),
  renewedAt: Type.String({ ...Time, description: 'Time at which the last token was issued.' }),
  expiresAt: Type.String({ ...Time, description: 'Time at which the session ends unless the session is renewed.' }),
  address: orNull(Type.String({ examples: ['192.0.2.7'] }), 'IP address of the client.'),
  client: orNull(Type.String({ examples: ['Mozilla/5.0'] }), 'User-Agent of the client.'),
  isCurrent: Type.Boolean({ description: 'True for the session of this request.', examples: [true] }),
});
export type ShownSession = Static<typeof ShownSession>;

export const SessionList = defineList('SessionList', 'Sessions', ShownSession, 'Most recently renewed first.');

export const EndedSessions = defineShape('EndedSessions', {
  endedAt: Type.String({ ...Time, description: 'Tokens issued before this time are refused.' }),
});
