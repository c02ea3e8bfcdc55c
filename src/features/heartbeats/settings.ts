import Type, { type Static, type TObject } from 'typebox';
import { assertName, HeartbeatDefinition, namePattern, uuidPattern } from './definition.ts';
import { compileTimes } from './expected-times.ts';

const ConfiguredHeartbeat = Type.Object(
  {
    name: Type.String({ pattern: namePattern, description: 'At most 64 letters, digits, `.`, `_` and `-`.' }),
    uuid: Type.Optional(Type.String({ pattern: uuidPattern, description: 'Secret address.' })),
    ...HeartbeatDefinition.properties,
  },
  { additionalProperties: false },
);
export type ConfiguredHeartbeat = Static<typeof ConfiguredHeartbeat>;

export const heartbeatSettings = {
  heartbeats: Type.Array(ConfiguredHeartbeat, {
    default: [],
    description: 'Jobs expected on a schedule; a late or failed job raises an alert.',
  }),
};
export type HeartbeatSettings = Static<TObject<typeof heartbeatSettings>>;

/** Finds conflicts in the settings. Returns them as clauses. */
export const findHeartbeatProblems = ({ heartbeats }: HeartbeatSettings): string[] => {
  const problems: string[] = [];
  const hasTwice = (values: readonly string[]): boolean => new Set(values).size < values.length;
  if (hasTwice(heartbeats.map(({ name }) => name))) problems.push('each heartbeat needs a different name');
  if (hasTwice(heartbeats.flatMap((heartbeat) => heartbeat.uuid?.toLowerCase() ?? [])))
    problems.push('each heartbeat needs a different UUID');
  for (const heartbeat of heartbeats) {
    try {
      assertName(heartbeat.name);
      compileTimes(heartbeat);
    } catch (error) {
      problems.push(`heartbeats.${heartbeat.name}: ${(error as Error).message}`);
    }
  }
  return problems;
};
