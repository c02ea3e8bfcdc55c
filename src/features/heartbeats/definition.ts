import Type, { type Static } from 'typebox';
import { HttpError } from '../../http/errors.ts';
import { dependsOn } from '../../kit/dependencies.ts';
import { severities } from '../../kit/severity.ts';
import { nullable } from '../../kit/shape.ts';

/** Maximum seconds of a period: ten years. A longer period is probably a mistake. */
const maxSeconds = 10 * 366 * 24 * 60 * 60;

/** Fields of a definition. All are optional in requests and in the config file. */
export const definitionFields = {
  period: Type.Integer({
    minimum: 10,
    maximum: maxSeconds,
    description: 'Seconds from one ping to the next. A heartbeat has either `period` or `schedule`.',
    examples: [86_400],
  }),
  schedule: Type.String({
    maxLength: 100,
    description: 'Cron expression of five fields. If day or weekday begins with `*`, both must match.',
    examples: ['0 2 * * *'],
  }),
  timeZone: Type.String({
    maxLength: 100,
    description: "Time zone of the schedule. Default: the server's time zone.",
    examples: ['Europe/Berlin'],
  }),
  grace: Type.Integer({
    minimum: 1,
    maximum: maxSeconds,
    description: 'Seconds that a ping can be late; 20 % of the interval by default.',
    examples: [3600],
  }),
  maxRunMinutes: Type.Number({
    exclusiveMinimum: 0,
    maximum: maxSeconds / 60,
    description: 'Maximum minutes of a run.',
    examples: [90],
  }),
  level: Type.Enum(severities, {
    type: 'string',
    description: 'Level of the alert; `ERROR` by default.',
    examples: ['ERROR'],
  }),
  description: Type.String({
    maxLength: 4000,
    description: 'Description of the job, with advice for when the heartbeat is down.',
    examples: ['nightly'],
  }),
  tags: Type.Array(Type.String({ minLength: 1, maxLength: 100, examples: ['db'] }), {
    maxItems: 20,
    description: 'Values for the `tags` label of the alert.',
  }),
  dependsOn,
  open: Type.Boolean({ description: 'True if anyone can see the badge.', examples: [true] }),
};

export const HeartbeatDefinition = Type.Partial(Type.Object(definitionFields));
export type HeartbeatDefinition = Static<typeof HeartbeatDefinition>;

/** Pattern of a UUID. Names must not match it, so that names and addresses cannot be confused. */
export const uuidPattern = '^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$';
export const namePattern = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$';

/** Body of a request that creates or replaces a heartbeat. */
export const HeartbeatBody = Type.Partial(
  Type.Object({
    ...definitionFields,
    uuid: nullable(
      Type.String({ pattern: uuidPattern, examples: ['6a1f3a0e-52d4-4be0-9d2e-0d5b5a1f7c11'] }),
      'Secret address of a new heartbeat, for jobs that already ping this address; random by default. An existing heartbeat keeps its address.',
    ),
  }),
  // Name of the type in released versions of the client.
  { title: 'HeartbeatDefinition' },
);
export type HeartbeatBody = Static<typeof HeartbeatBody>;

const uuid = new RegExp(uuidPattern);

export const isUuid = (text: string): boolean => uuid.test(text);

/** @throws HttpError if the name is invalid */
export const assertName = (name: string): void => {
  if (new RegExp(namePattern).test(name) && !isUuid(name)) return;
  throw new HttpError(
    'invalid',
    'The name of a heartbeat must consist of up to 64 letters, digits, ".", "_" and "-", begin with a letter or digit, and not be a UUID',
  );
};
