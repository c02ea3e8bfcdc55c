import Type, { type Static } from 'typebox';
import { needs } from '../../auth/access.ts';
import { HttpError, requireKnown } from '../../http/errors.ts';
import { dependsOn } from '../../kit/dependencies.ts';
import type { SettingKeeper } from '../../kit/setting-keeper.ts';
import { defineSettingKind } from '../../kit/setting-kind.ts';
import type { RuntimeSetting } from '../../kit/setting-store.ts';
import { aliases, HostParams, note, ShownHost, tags } from './schema.ts';

/** Pattern of host names. They are also used as key names, file names and path segments. */
export const hostNamePattern = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$';

const mostHosts = 1000;

/** Name in the path of a report that means the host of the caller's key. */
export const selfName = 'self';

/** Names reserved for paths of routes. */
const reserved = ['enrol', selfName];

/** @throws HttpError if the name is invalid or reserved */
export const assertHostName = (name: string): void => {
  if (new RegExp(hostNamePattern).test(name) && !reserved.includes(name.toLowerCase())) return;
  throw new HttpError(
    'invalid',
    'The name of a host must consist of up to 64 letters, digits, ".", "_" and "-", begin with a letter or digit, and be neither "enrol" nor "self"',
  );
};

/** Throws an HttpError if the name of the host, or one of its aliases, already belongs to another host. */
export const assertOwnNames = ({ name, aliases }: KnownHost, all: readonly KnownHost[]): void => {
  const own = new Set([name, ...aliases].map((each) => each.toLowerCase()));
  for (const other of all) {
    if (other.name === name) continue;
    const shared = [other.name, ...other.aliases].find((each) => own.has(each.toLowerCase()));
    if (shared !== undefined)
      throw new HttpError('wrong-state', `Host ${other.name} already has the name or alias ${shared}`);
  }
};

/** Stored form of a host, including descriptions entered by people. */
export interface StoredHost {
  tags: readonly string[];
  /** Other names used for the machine in alerts. */
  aliases?: readonly string[];
  note: string;
  dependsOn?: readonly string[];
}

/** Entry in the setting `hosts`. */
export const ConfiguredHost = Type.Object(
  {
    name: Type.String({ pattern: hostNamePattern, description: 'Letters, digits, `.`, `_` and `-`; at most 64.' }),
    url: Type.Optional(
      Type.String({
        pattern: '^https?://[^\\s@]+$',
        description:
          "URL of a node_exporter's metrics, for a machine without an agent, such as `http://10.0.0.5:9100/metrics`.",
      }),
    ),
    tags: Type.Optional(tags),
    aliases: Type.Optional(aliases),
    note: Type.Optional(note),
    dependsOn: Type.Optional(dependsOn),
  },
  { additionalProperties: false },
);
export type ConfiguredHost = Static<typeof ConfiguredHost>;

export interface KnownHost extends Required<StoredHost> {
  name: string;
  /** Address of the node_exporter on the host. It can be set only in the config file. */
  url?: string;
  /** Runtime setting. Undefined for a host in the config file, and for the machine of this server. */
  setting: RuntimeSetting<StoredHost> | undefined;
}

/** Settings of a host without descriptions. */
const none = { tags: [], aliases: [], note: '', dependsOn: [] };

export const hostKind = defineSettingKind<StoredHost, KnownHost, ConfiguredHost, Partial<StoredHost>>({
  name: 'host',
  noun: 'Host',
  path: '/api/hosts',
  params: HostParams,
  shape: ShownHost,
  reading: needs('hosts:read'),
  changing: needs('settings:write'),
  limits: { count: mostHosts, plural: 'hosts', withConfigured: true },
  isCaseless: true,
  order: 'name',
  assertName: assertHostName,
  compile: (setting) => {
    const { name, value } = setting;
    return { name, ...none, ...value, setting };
  },
  complete: (given, { name, stored }) => ({ ...requireKnown(stored, 'Host', name, '/api/hosts'), ...given }),
  fromConfig: (host) => ({ ...none, ...host, setting: undefined }),
});

export type HostKeeper = SettingKeeper<StoredHost, KnownHost, ConfiguredHost, Partial<StoredHost>>;
