import type { TObject, TSchema, TUnion } from 'typebox';
import { toFormerProperties } from '../../src/config/upgrade.ts';
import { basePath } from '../../src/server/mounts.ts';

/** Minimum length of a secret in characters. The program requires 32 bytes, and a character has at most 4. */
const minSecretLength = 8;

/**
 * Creates the JSON Schema of the config file for editors. Every key is optional, `$schema` is allowed, and the schema
 * includes rules that the program itself checks later with separate messages. `profiles` are the names and letters of
 * all profiles.
 */
export const toFileSchema = (
  { required: _required, properties, ...schema }: TObject,
  profiles: readonly string[],
): object => {
  const names = { items: { type: 'string', enum: profiles } };
  const key = { minLength: minSecretLength };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...schema,
    properties: {
      $schema: { description: 'Path of this schema; the program ignores this key.' },
      ...properties,
      ...toFormerProperties(properties),
      profiles: { ...properties['profiles'], ...names },
      access: toFileAccess(properties['access'] as TSchema, profiles),
      mounts: {
        ...properties['mounts'],
        minProperties: 1,
        propertyNames: { pattern: basePath.source },
        patternProperties: { '^/': { type: 'array', minItems: 1, ...names } },
      },
      jwtSecret: { ...properties['jwtSecret'], ...key },
      jwtPreviousSecret: { ...properties['jwtPreviousSecret'], ...key },
    },
  };
};

/** Adds the profiles' names to the setting `access`. */
const toFileAccess = (access: TSchema, profiles: readonly string[]): object => {
  const [word, byProfile] = (access as TUnion).anyOf;
  return { ...access, anyOf: [word, { ...byProfile, propertyNames: { enum: profiles } }] };
};
