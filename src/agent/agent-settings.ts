import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import Type, { type Static, type TObject } from 'typebox';
import { findExposedFiles } from '../config/file-modes.ts';
import { type Flags, loadSettings } from '../config/load.ts';
import { createSettingsSchema, type Settings } from '../config/schema.ts';
import { assertNoProblems, SettingsError } from '../config/settings-error.ts';
import { alertLogSettings } from '../features/alerts/log/settings.ts';
import { commandSettings } from '../features/commands/schema.ts';
import { findHeartbeatProblems, heartbeatSettings } from '../features/heartbeats/settings.ts';
import { outboxSettings } from '../features/notifications/forwarder/settings.ts';
import { watchSettings } from '../features/watches/settings.ts';
import { findConfigProblems } from '../features/watches/watch-problems.ts';
import { type HubSetting, hubKeyVariable, hubSettings, parseHubUrl } from '../kit/hub.ts';
import { findReachProblems } from '../kit/reach.ts';

/** Settings of features that an agent runs. */
const featureSettings = {
  ...alertLogSettings,
  ...heartbeatSettings,
  ...watchSettings,
  ...commandSettings,
  ...hubSettings,
  ...outboxSettings,
};
type FeatureSettings = Static<TObject<typeof featureSettings>>;

export type AgentSettings = Settings & FeatureSettings & { hub: HubSetting };

/** Command-line values for the agent. */
export interface AgentOptions {
  hub: string | undefined;
  keyFile: string | undefined;
  ca: string | undefined;
  code: string | undefined;
}

/**
 * Returns an agent's settings. Ignores the settings in `serverSettings`, because only a server uses them. Throws a
 * SettingsError if the settings are invalid.
 */
export const readAgentSettings = (
  flags: Flags,
  given: AgentOptions,
  serverSettings: readonly string[],
  warn: (warning: string) => void = () => undefined,
): AgentSettings => {
  const { properties } = createSettingsSchema([featureSettings]);
  const others = serverSettings.filter((name) => !Object.hasOwn(properties, name));
  const ignored = Object.fromEntries(others.map((name) => [name, Type.Optional(Type.Unknown())]));
  const schema = createSettingsSchema([featureSettings, ignored]);
  const settings = loadSettings(schema, flags, process.env, warn) as Settings & FeatureSettings;
  const { hub: configured, dataDir: folder, watches } = settings;
  const url = given.hub ?? configured?.url;
  if (url === undefined)
    throw new SettingsError(['agent needs the URL of the hub: pass --hub, or set hub in the config file']);
  try {
    parseHubUrl(url);
  } catch (error) {
    throw new SettingsError([`--hub ${(error as Error).message}`]);
  }
  const ca = given.ca ?? configured?.ca;
  const dataDir = resolve(folder);
  const ownFile = join(dataDir, 'hub.key');
  const isInVariable = Boolean(process.env[hubKeyVariable]) && given.code === undefined && !existsSync(ownFile);
  const keyFile = given.keyFile ?? configured?.keyFile ?? (isInVariable ? undefined : ownFile);
  const hub: HubSetting = { url, ...(keyFile !== undefined && { keyFile }), ...(ca !== undefined && { ca }) };
  const files = keyFile === undefined ? [] : [{ name: 'hub.keyFile', path: keyFile }];
  const { problems, warnings } = findExposedFiles({ dataDir, files });
  assertNoProblems([
    ...problems,
    ...findHeartbeatProblems(settings),
    ...findConfigProblems(watches),
    ...findReachProblems(settings.watchTargets),
  ]);
  for (const warning of warnings) warn(warning);
  const unused = others.filter((name) => settings[name] !== undefined);
  if (unused.length > 0)
    warn(`an agent ignores ${unused.join(', ')}: to use these settings, run signalbox serve with the setting hub`);
  return { ...settings, dataDir, hub };
};
