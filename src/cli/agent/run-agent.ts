import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openAgent } from '../../agent/agent.ts';
import { type AgentOptions, readAgentSettings } from '../../agent/agent-settings.ts';
import { applyTimeZone } from '../../config/checks.ts';
import type { Flags } from '../../config/load.ts';
import { agentSocket } from '../../config/names.ts';
import { SettingsError } from '../../config/settings-error.ts';
import { parseHubUrl } from '../../kit/hub.ts';
import { minuteMs } from '../../lib/units.ts';
import { programVersion } from '../../server/package-info.ts';
import { freeMemory } from '../serve/free-memory.ts';
import { createLog } from '../serve/log.ts';
import { handleSignals } from '../serve/stopping.ts';
import { print } from '../stdio.ts';
import { loadTexts } from '../texts.ts';
import { enrol } from './enrol.ts';

/** Maximum length of a socket path in bytes. */
const longestSocketPath = 107;

/** Milliseconds allowed during shutdown for the last report and running requests. */
const gracePeriodMs = 10_000;

/**
 * Milliseconds from startup until the garbage of startup is collected. By then, the first report and checks are done.
 */
const startGarbageMs = 20_000;

/** Milliseconds between later collections. Without them, an idle agent takes 8 MiB more after half an hour. */
const garbageMs = 5 * minuteMs;

/** Returns the names of all server settings. */
export const listServerSettings = (): string[] =>
  Object.keys((JSON.parse(loadTexts().configSchema) as { properties: object }).properties);

/**
 * Runs the agent until a signal stops it. If the agent cannot start, resolves to an exit code. Throws a SettingsError
 * if a setting is unusable.
 */
export const runAgent = async (flags: Flags, given: AgentOptions): Promise<number | undefined> => {
  const warnings: string[] = [];
  const settings = readAgentSettings(flags, given, listServerSettings(), (warning) => warnings.push(warning));
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
      `${hub.keyFile} does not exist: run signalbox add-host on the hub, then run the printed command on this machine`,
    ]);
  const log = createLog(settings.logLevel);
  const agent = await openAgent(settings, log);
  await agent.listen(socket);
  handleSignals({ log, close: agent.close, limitMs: gracePeriodMs, reload: undefined });
  process.stdout.on('error', () => undefined);
  print(
    `signalbox ${programVersion} reports to ${parseHubUrl(hub.url).origin}; programs on this machine can send alerts to ${socket}\n`,
  );
  for (const warning of warnings) log.warn(warning);
  setTimeout(() => void freeMemory(), startGarbageMs).unref();
  setInterval(() => void freeMemory(), garbageMs).unref();
  return undefined;
};
