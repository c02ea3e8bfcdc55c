import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { needs, openFor } from '../../auth/access.ts';
import { defineSettingKind } from '../../kit/setting-kind.ts';
import type { RuntimeSetting } from '../../kit/setting-store.ts';
import {
  assertName,
  type ConfiguredHeartbeat,
  compileTimes,
  type HeartbeatDefinition,
  type KnownHeartbeat,
} from './definition.ts';
import { Heartbeat, HeartbeatParams } from './schema.ts';

/** How many heartbeats there can be. */
const mostHeartbeats = 5000;

/** As it is stored. */
export interface StoredHeartbeat extends HeartbeatDefinition {
  uuid: string;
}

/** @throws HttpError for one that cannot be used */
const compile = (setting: RuntimeSetting<StoredHeartbeat>): KnownHeartbeat => {
  const { name, value, at, createdAt } = setting;
  const { uuid, ...definition } = value;
  return { name, uuid, definition, times: compileTimes(definition), since: createdAt, changedAt: at, setting };
};

/** Definitions of heartbeats; what was received of them is a projection of its own. */
export const heartbeatKind = defineSettingKind<
  StoredHeartbeat,
  KnownHeartbeat,
  ConfiguredHeartbeat,
  HeartbeatDefinition
>({
  name: 'heartbeat',
  noun: 'Heartbeat',
  path: '/api/heartbeats',
  params: HeartbeatParams,
  shape: Heartbeat,
  versionOf: 'definition',
  reading: openFor('incidents:read'),
  changing: needs('settings:write'),
  limits: { count: mostHeartbeats, plural: 'heartbeats', withConfigured: true },
  order: 'name',
  assertName,
  compile,
  fromConfig: ({ name, uuid, ...definition }, { at, before }) => ({
    name,
    uuid: uuid?.toLowerCase(),
    definition,
    times: compileTimes(definition),
    since: 0,
    changedAt: before && isDeepStrictEqual(before.definition, definition) ? before.changedAt : at,
    setting: undefined,
  }),
  // It keeps its address.
  complete: (definition, { known, stored }) => ({ ...definition, uuid: known?.uuid ?? stored?.uuid ?? randomUUID() }),
});
