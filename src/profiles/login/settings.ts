import Type from 'typebox';
import { User } from './schema.ts';

const password = (name: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      writeOnly: true,
      description: `Password of ${name}, at most 128 bytes; random if not set.`,
    }),
  );

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
    'Wrong logins from an address (IPv6: a /64) after which it is delayed: 10 s, then twice as long each time; 0 means no limit.',
  ),
  loginTriesPerUser: tries(
    30,
    'Wrong logins for one user within an hour after which addresses that fail are delayed by at most 30 s; 0 means no limit.',
  ),
  loginTriesInTotal: tries(
    200,
    'Wrong logins for all users within an hour after which addresses that fail are delayed by at most 30 s; 0 means no limit.',
  ),
  loginMaxDelay: Type.Integer({
    minimum: 1,
    maximum: 3600,
    default: 300,
    description: 'Longest delay of an address, in seconds.',
  }),
};
