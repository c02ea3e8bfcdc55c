import Type, { type Static } from 'typebox';
import { destinationTypes } from '../types/index.ts';

const GiB = 1024 ** 3;

const oneOrTwo = (description: string) =>
  Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 2 })], {
    description,
  });

const texts = (description: string) => Type.Array(Type.String({ minLength: 1 }), { minItems: 1, description });

/** Names of destinations are parts of file names and paths. */
const namePattern = '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$';

/** An entry of the setting `destinations`. Type and URL are checked later, with errors that name the destination. */
export const DestinationSettings = Type.Object(
  {
    name: Type.String({ pattern: namePattern, description: 'Up to 64 letters, digits, `_` and `-`.' }),
    type: Type.String({ description: `One of ${destinationTypes.map(({ name }) => name).join(', ')}.` }),
    url: Type.String({ description: 'Where alerts are sent, http or https.' }),
    secret: Type.Optional(oneOrTwo('The secret, or the current and the previous one.')),
    secretFile: Type.Optional(oneOrTwo('File with the secret, instead of `secret`.')),
    levels: Type.Optional(texts('Send only alerts with one of these levels, in any case.')),
    sources: Type.Optional(texts('Send only alerts with one of these sources; `*` stands for any text.')),
    formats: Type.Optional(texts('Send only alerts of these formats; those of POST /api/alert are `native`.')),
    retrySeconds: Type.Optional(
      Type.Array(Type.Number({ minimum: 0, maximum: 7 * 24 * 3600 }), {
        maxItems: 100,
        description: 'Seconds to wait after each failed attempt, instead of the usual schedule.',
      }),
    ),
    concurrency: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 8, description: 'Requests at a time; 1 by default.' }),
    ),
    startAt: Type.Optional(
      Type.Enum(['now', 'oldest'], { description: 'Which alerts a new destination gets: later ones, or all.' }),
    ),
  },
  { additionalProperties: false },
);
export type DestinationSettings = Static<typeof DestinationSettings>;

/** The outbox's settings with their defaults. */
export const outboxSettings = {
  destinations: Type.Array(DestinationSettings, {
    default: [],
    maxItems: 16,
    writeOnly: true,
    description: 'Receivers of alerts: name, type, url and more; see docs/destinations.',
  }),
  outboxRetainBytes: Type.Integer({
    minimum: 0,
    default: GiB,
    description: 'How many bytes of closed log files are kept for destinations that have not received their alerts.',
  }),
};
