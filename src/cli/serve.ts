import type { AddressInfo } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import type { TObject } from 'typebox';
import { type App, createApp } from '../app/create-app.ts';
import { preflight } from '../app/preflight.ts';
import { type Flags, loadSettings } from '../config/load.ts';
import type { Settings } from '../config/schema.ts';
import { SettingsError } from '../config/settings-error.ts';
import { isLoopback } from '../http/admission/foreign-pages.ts';
import { listAddresses, listenOn } from '../http/connection/listen.ts';
import { features } from '../profiles/index.ts';
import { createLog } from './log.ts';
import { createStartMessage } from './start-message.ts';

/** The app for the settings, not listening yet, with warnings for the log. Throws a SettingsError for bad settings. */
export const prepare = async (schema: TObject, flags: Flags, overrides: Partial<Settings> = {}) => {
  const warnings: string[] = [];
  const warn = (warning: string) => warnings.push(warning);
  const loaded = loadSettings(schema, flags, process.env, warn, (found) => preflight(found, features));
  const settings: Settings = { ...loaded, ...overrides };
  const log = createLog(settings.logLevel);
  const app = await createApp(settings, { log, nodeVersion: process.versions.node, features });
  warnings.push(...listAccessWarnings(app, settings));
  return { app, settings, log, warnings };
};

/** Starts the service; resolves once it listens. Throws a SettingsError if it cannot start. */
export const serve = async (schema: TObject, flags: Flags) => {
  const { app, settings, log, warnings } = await prepare(schema, flags);
  if (settings.seed !== undefined) await freeMemory();
  const address = await listen(app, settings, log);
  for (const warning of warnings) log.warn(warning);
  return {
    server: app.server,
    log,
    /** Lines for people about what is served where. */
    message: createStartMessage(app, address),
    /** Opens files again and takes over changed users; errors are logged, and keep what was there before. */
    reload: async (): Promise<void> => {
      await app.reopen().catch((err: unknown) => log.error({ err }, 'files could not be opened again'));
      reloadSettings(app, log, schema, flags);
    },
  };
};

/** Warnings about who can use the service. */
const listAccessWarnings = ({ mounts }: App, { host, jwtSecret }: Settings): string[] => {
  const profiles = mounts.flatMap((mount) => mount.profiles);
  const closed = profiles.filter(({ routes }) => routes.every(({ access }) => access !== 'open'));
  const names = [...new Set(closed.map(({ name }) => name))].join(', ');
  // With a signing key of its own, another program can make tokens.
  const isUsable = names === '' || jwtSecret !== undefined || profiles.some(({ name }) => name === 'login');
  return [
    ...(isUsable
      ? []
      : [`nobody can use ${names}: a token is needed, and nothing gives one; add the profile login, or set jwtSecret`]),
    ...(isLoopback(host)
      ? []
      : ['the service can be reached from other machines: see which routes are open without a token']),
  ];
};

const reloadSettings = (app: App, log: FastifyBaseLogger, schema: TObject, flags: Flags): void => {
  try {
    const notices = app.reload(loadSettings(schema, flags, undefined, (warning) => log.warn(warning)));
    for (const notice of notices) process.stdout.write(`${notice}\n`);
    log.info('settings reloaded');
  } catch (err) {
    const details = err instanceof SettingsError ? {} : { err };
    log.error(details, `settings not reloaded, the old ones stay: ${(err as Error).message}`);
  }
};

const listen = async (app: App, { host, port, tlsCert }: Settings, log: FastifyBaseLogger): Promise<string> => {
  try {
    const address = await listenOn(app.server, await listAddresses(host), port, log);
    return toUrl(tlsCert === undefined ? 'http' : 'https', address);
  } catch (error) {
    await app.server.close();
    const reason = reasons[(error as NodeJS.ErrnoException).code ?? ''] ?? (error as Error).message;
    throw new SettingsError([`cannot listen on ${host}:${port}: ${reason}`]);
  }
};

/** Collects garbage now: loading a million tasks leaves 450 MB behind that V8 would keep until it needs them. */
const freeMemory = async (): Promise<void> => {
  // Imported when used, because loading it would slow down every start.
  const { Session } = await import('node:inspector/promises');
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.collectGarbage');
  session.disconnect();
};

/** The address itself: Fastify's own text names 127.0.0.1 where the server listens on every address. */
const toUrl = (scheme: string, { address, family, port }: AddressInfo): string =>
  `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;

const reasons: Record<string, string> = {
  EADDRINUSE: 'the port is taken; choose another with --port',
  EACCES: 'this account may not use the port; choose one above 1023 with --port',
  EADDRNOTAVAIL: 'the address is not one of this machine; choose another with --host',
  ENOTFOUND: 'there is no such host; choose another with --host',
};
