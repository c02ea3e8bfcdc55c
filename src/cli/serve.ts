import type { AddressInfo } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import { pino } from 'pino';
import type { TObject } from 'typebox';
import { type App, createApp } from '../app/create-app.ts';
import { preflight } from '../app/preflight.ts';
import { type Flags, loadSettings } from '../config/load.ts';
import type { Settings } from '../config/schema.ts';
import { SettingsError } from '../config/settings-error.ts';
import { isLoopback } from '../http/admission/foreign-pages.ts';
import { listAddresses, listenOn } from '../http/connection/listen.ts';
import { features } from '../profiles/index.ts';
import { createStartMessage } from './start-message.ts';

/** Starts the service; resolves once it listens. Throws a SettingsError if it cannot start. */
export const serve = async (schema: TObject, flags: Flags) => {
  const warnings: string[] = [];
  const settings = loadSettings(
    schema,
    flags,
    process.env,
    (warning) => warnings.push(warning),
    (found) => preflight(found, features),
  );
  const log = createLog(settings.logLevel);
  const app = await createApp(settings, { log, nodeVersion: process.versions.node, features });
  if (settings.seed !== undefined) await freeMemory();
  const address = await listen(app, settings, log);
  for (const warning of warnings) log.warn(warning);
  if (!isLoopback(settings.host)) {
    log.warn('the service can be reached from other machines: see which routes are open without a token');
  }
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

/** Logs to standard error; standard output is for people. */
const createLog = (level: Settings['logLevel']): FastifyBaseLogger => {
  const destination = pino.destination({ dest: 2, sync: true });
  // A full disk or a closed terminal behind the log must not stop the service.
  destination.on('error', () => undefined);
  return pino({ level }, destination);
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
