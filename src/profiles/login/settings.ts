import Type from 'typebox';
import { User } from './schema.ts';

const password = (name: string) =>
  Type.Optional(Type.String({ minLength: 1, writeOnly: true, description: `Password of ${name}; random if not set.` }));

const tries = (value: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: 1_000_000, default: value, description });

/** The login's settings with their defaults. */
export const loginSettings = {
  adminPassword: password('admin'),
  readerPassword: password('reader'),
  users: Type.Optional(
    Type.Array(User, {
      minItems: 1,
      writeOnly: true,
      description: 'Users that replace admin and reader: name, role, passwordHash.',
    }),
  ),
  loginTriesPerAddress: tries(
    8,
    'Wrong logins from an address after which further ones are delayed; 0 means no limit.',
  ),
  loginTriesPerUser: tries(
    30,
    'Wrong logins for one user within an hour after which addresses that fail are delayed; 0 means no limit.',
  ),
  loginTriesInTotal: tries(
    200,
    'Wrong logins for all users within an hour after which addresses that fail are delayed; 0 means no limit.',
  ),
  loginMaxDelay: Type.Integer({
    minimum: 1,
    maximum: 3600,
    default: 300,
    description: 'Longest delay after wrong logins, in seconds.',
  }),
};
