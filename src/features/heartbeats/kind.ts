import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { needs, openFor } from '../../auth/access.ts';
import { defineSettingKind } from '../../kit/setting-kind.ts';
import type { RuntimeSetting } from '../../kit/setting-store.ts';
import { assertName, type HeartbeatBody, type HeartbeatDefinition } from './definition.ts';
import { compileTimes, type ExpectedTimes } from './expected-times.ts';
import { Heartbeat, HeartbeatParams } from './schema.ts';
import type { ConfiguredHeartbeat } from './settings.ts';

const maxHeartbeats = 5000;

/** Definition of a runtime heartbeat in the settings log. */
export type StoredHeartbeat = HeartbeatDefinition & { uuid: string };

/** Heartbeat as used by the server. */
export interface KnownHeartbeat {
  name: string;
  /** Secret address. Undefined for a configured heartbeat without one. */
  uuid: string | undefined;
  definition: HeartbeatDefinition;
  times: ExpectedTimes;
  /**
   * Creation time in Unix milliseconds. Distinguishes successive heartbeats with the same name. 0 for a heartbeat from
   * the config file.
   */
  since: number;
  /**
   * Time of the last change of the definition in Unix milliseconds. 0 if the definition was in the config file at
   * startup.
   */
  changedAt: number;
  /** Runtime setting. Undefined for heartbeats from the config file. */
  setting: Pick<RuntimeSetting, 'version' | 'by' | 'at'> | undefined;
}

/** @throws HttpError if the definition is invalid */
const compile = (setting: RuntimeSetting<StoredHeartbeat>): KnownHeartbeat => {
  const { name, value, at, createdAt } = setting;
  const { uuid, ...definition } = value;
  return { name, uuid, definition, times: compileTimes(definition), since: createdAt, changedAt: at, setting };
};

/** Kind of runtime setting that defines heartbeats. The states of heartbeats are a projection of another log. */
export const heartbeatKind = defineSettingKind<StoredHeartbeat, KnownHeartbeat, ConfiguredHeartbeat, HeartbeatBody>({
  name: 'heartbeat',
  noun: 'Heartbeat',
  path: '/api/heartbeats',
  params: HeartbeatParams,
  shape: Heartbeat,
  versionOf: 'definition',
  reading: openFor('incidents:read'),
  changing: needs('settings:write'),
  limits: { count: maxHeartbeats, plural: 'heartbeats', withConfigured: true },
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
  // A replaced heartbeat keeps its address.
  complete: ({ uuid, ...definition }, { known, stored }) => ({
    ...definition,
    uuid: known?.uuid ?? stored?.uuid ?? uuid?.toLowerCase() ?? randomUUID(),
  }),
});
