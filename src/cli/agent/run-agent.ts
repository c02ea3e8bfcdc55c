import { chmodSync, existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { TObject } from 'typebox';
import { applyTimeZone } from '../../config/checks.ts';
import { type Flags, loadSettings } from '../../config/load.ts';
import { agentSocket } from '../../config/names.ts';
import type { Settings } from '../../config/schema.ts';
import { SettingsError } from '../../config/settings-error.ts';
import { features } from '../../features/index.ts';
import { type HubSetting, hubKeyVariable, parseHubUrl } from '../../kit/hub.ts';
import { createApp } from '../../server/create-app.ts';
import { programVersion } from '../../server/package-info.ts';
import { openStorage } from '../../server/storage.ts';
import { createLog } from '../serve/log.ts';
import { freeMemory } from '../serve/serve.ts';
import { handleSignals } from '../serve/stopping.ts';
import { print } from '../stdio.ts';
import { enrol } from './enrol.ts';

/** Values of the command line. */
export interface AgentOptions {
  hub: string | undefined;
  keyFile: string | undefined;
  ca: string | undefined;
  code: string | undefined;
}

/** Profiles of an agent: senders on this machine reach their routes through the socket. */
const profiles = ['alerts', 'heartbeats', 'watches'];

/** Maximum length of a socket's path in bytes. */
const longestSocketPath = 107;

/** Milliseconds allowed for the last report and running requests during shutdown. */
const gracePeriodMs = 10_000;

/** Returns an agent's settings. Throws a SettingsError. */
export const readAgentSettings = (
  schema: TObject,
  flags: Flags,
  given: AgentOptions,
  warn: (warning: string) => void = () => undefined,
): Settings & { hub: HubSetting } => {
  const settings = loadSettings(schema, flags, process.env, warn);
  const configured = settings['hub'] as HubSetting | undefined;
  const url = given.hub ?? configured?.url;
  if (url === undefined)
    throw new SettingsError(['agent needs the URL of the hub: pass --hub, or set hub in the config file']);
  try {
    parseHubUrl(url);
  } catch (error) {
    throw new SettingsError([`--hub ${(error as Error).message}`]);
  }
  const ca = given.ca ?? configured?.ca;
  const dataDir = resolve(settings.dataDir);
  const ownFile = join(dataDir, 'hub.key');
  const isInVariable = Boolean(process.env[hubKeyVariable]) && given.code === undefined && !existsSync(ownFile);
  const keyFile = given.keyFile ?? configured?.keyFile ?? (isInVariable ? undefined : ownFile);
  const hub: HubSetting = { url, ...(keyFile !== undefined && { keyFile }), ...(ca !== undefined && { ca }) };
  const { mounts: _, ...others } = settings;
  return { ...others, dataDir, profiles, access: 'open', host: '127.0.0.1', port: 0, hub } as Settings & {
    hub: HubSetting;
  };
};

/** Runs the agent until a signal stops it; resolves to an exit code if it cannot start. Throws a SettingsError. */
export const runAgent = async (schema: TObject, flags: Flags, given: AgentOptions): Promise<number | undefined> => {
  const warnings: string[] = [];
  const settings = readAgentSettings(schema, flags, given, (warning) => warnings.push(warning));
  const { hub, dataDir } = settings;
  applyTimeZone(settings);
  const socket = join(dataDir, agentSocket);
  if (Buffer.byteLength(socket) > longestSocketPath)
    throw new SettingsError([
      `dataDir: the path of the socket ${socket} is too long: choose a folder with a shorter path`,
    ]);
  if (given.code !== undefined) {
    const code = await enrol(hub, given.code, hub.keyFile ?? join(dataDir, 'hub.key'));
    if (code !== undefined) return code;
  }
  if (hub.keyFile !== undefined && !existsSync(hub.keyFile))
    throw new SettingsError([
      `${hub.keyFile} does not exist: run signalbox add-host on the hub, then run the command it prints on this machine`,
    ]);
  const log = createLog(settings.logLevel);
  const app = await createApp(settings, { log, features, openStorage });
  // Left by a killed process: the data folder belongs to this process now.
  rmSync(socket, { force: true });
  await app.server.listen({ path: socket });
  chmodSync(socket, 0o600);
  handleSignals({ log, close: () => app.server.close(), limitMs: gracePeriodMs, reload: undefined });
  process.stdout.on('error', () => undefined);
  print(
    `signalbox ${programVersion} reports to ${parseHubUrl(hub.url).origin}; programs on this machine can send alerts to ${socket}\n`,
  );
  for (const warning of warnings) log.warn(warning);
  setTimeout(() => void freeMemory(), 1000).unref();
  return undefined;
};
