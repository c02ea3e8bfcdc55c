import type { AddressInfo } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import type { TObject } from 'typebox';
import { applyTimeZone } from '../../config/checks.ts';
import { type Flags, listUnknownVariables, loadSettings } from '../../config/load.ts';
import type { Settings } from '../../config/schema.ts';
import { SettingsError } from '../../config/settings-error.ts';
import { features } from '../../features/index.ts';
import { listAddresses, listenOn } from '../../http/server.ts';
import { MiB } from '../../lib/units.ts';
import { type App, createApp } from '../../server/create-app.ts';
import { planDatabase } from '../../server/database.ts';
import { toPrefix } from '../../server/mounts.ts';
import { programVersion } from '../../server/package-info.ts';
import { preflight } from '../../server/preflight.ts';
import { type OpenStorage, openStorage } from '../../server/storage.ts';
import { withTrialStorage } from '../../server/trial-storage.ts';
import { clearProgress, showProgress } from '../progress.ts';
import { escapeControls } from '../stdio.ts';
import { freeMemory } from './free-memory.ts';
import { createLog } from './log.ts';
import { handleSignals } from './stopping.ts';

/** Milliseconds allowed during shutdown for running requests to finish. */
const gracePeriodMs = 10_000;

/** Profiles whose records a memory store loses. */
const forgetful = ['tasks', 'protected-tasks', 'simple-tasks', 'items'];

/** Warning for the log. */
interface Warning {
  msg: string;
  /** Routes in the form `GET, POST /api/tasks`. */
  openRoutes?: string[];
}

interface Options {
  /** Level that overrides the level in the settings. */
  logLevel?: Settings['logLevel'];
  /** Environment variables. Default: the variables of this process. */
  environment?: NodeJS.ProcessEnv;
  openStorage: OpenStorage;
}

/**
 * Creates the app and the warnings for the log. The app does not listen yet. Throws a SettingsError for invalid
 * settings.
 */
const prepare = async (
  schema: TObject,
  flags: Flags,
  { logLevel, environment = process.env, openStorage }: Options,
) => {
  const warnings: Warning[] = [];
  const warn = (msg: string) => warnings.push({ msg });
  const settings = loadSettings(schema, flags, environment, warn, (found) => preflight(found, features));
  applyTimeZone(settings);
  const log = createLog(logLevel ?? settings.logLevel);
  // A terminal shows the progress of slow work. Without a terminal, the log does.
  const onProgress = process.stderr.isTTY ? { onProgress: showProgress } : {};
  const open: OpenStorage = (all, given) => openStorage(all, { ...given, ...onProgress });
  const parts = { log, features, openStorage: open };
  const app = await createApp(settings, parts).catch((error) => {
    if (!(error instanceof SettingsError)) throw error;
    throw new SettingsError([...error.problems, ...listUnknownVariables(schema)]);
  });
  warnings.push(...app.warnings.map((msg) => ({ msg })), ...listAccessWarnings(app, settings));
  return { app, settings, log, warnings };
};

/**
 * Runs all startup checks without changing anything. Logs warnings. Resolves to the changes that startup would make to
 * the database, as sentences without a full stop. Throws a SettingsError wherever startup would.
 */
export const check = (schema: TObject, flags: Flags): Promise<string[]> =>
  withTrialStorage(async (openStorage) => {
    const { app, settings, log, warnings } = await prepare(schema, flags, { logLevel: 'warn', openStorage });
    await app.server.close();
    const { plans, unchecked } = await planDatabase(settings);
    for (const warning of [...warnings, ...unchecked.map((msg) => ({ msg }))]) log.warn(warning);
    return plans;
  });

/**
 * Starts the server. Resolves once the server listens. A signal stops the server. Throws a SettingsError if the server
 * cannot start.
 */
export const serveUntilStopped = async (schema: TObject, flags: Flags): Promise<void> => {
  const { app, settings, log, warnings } = await prepare(schema, flags, { openStorage });
  const isHeapLarge = process.memoryUsage().heapUsed > largeHeapBytes;
  if (isHeapLarge) await freeMemory();
  const address = await listen(app, settings, log);
  /** Reopens files and applies changes to users. An error is logged and leaves the previous state in use. */
  const reload = async (): Promise<void> => {
    await app
      .reopen()
      .catch((err: unknown) => log.error({ err }, 'the log files or the certificate could not be reopened'));
    reloadSettings(app, log, schema, flags);
  };
  // In a terminal, SIGHUP means the window was closed, so the server stops.
  const isInTerminal = process.stdin.isTTY || process.stdout.isTTY;
  handleSignals({
    log,
    close: () => app.server.close(),
    limitMs: gracePeriodMs,
    reload: isInTerminal ? undefined : reload,
  });
  // The server works even if its start message cannot be written, for example because the disk is full.
  process.stdout.on('error', () => undefined);
  clearProgress();
  // Printed after the signal handlers are installed, because programs that read the address may also stop the server.
  process.stdout.write(createStartMessage(app, address, settings));
  // Logged last, so that the start message is not interrupted.
  for (const warning of warnings) log.warn(warning);
  for (const remark of app.remarks) log.info(remark);
  if (!isHeapLarge) setTimeout(freeMemory, startGarbageMs).unref();
};

/**
 * Starts a server in this process using only the settings of a config file. Prints no start message and logs only
 * errors. Resolves to the server's address and a function that stops the server. Throws a SettingsError if the server
 * cannot start.
 */
export const startServer = async (schema: TObject, config: string) => {
  const options = { logLevel: 'error', environment: {}, openStorage } as const;
  const { app, settings, log } = await prepare(schema, { config }, options);
  return { url: await listen(app, settings, log), close: () => app.server.close() };
};

/** Returns warnings for routes that are open to everyone. */
const listAccessWarnings = ({ mounts, openRoutesNotice }: App, { jwtSecret }: Settings): Warning[] => {
  const profiles = mounts.flatMap((mount) => mount.profiles);
  const closed = profiles.filter(
    ({ aliases, routes }) =>
      routes.every(({ access }) => access !== 'open') &&
      // Skips profiles that the user did not ask for and that another profile brought along.
      !profiles.some(({ name }) => aliases.includes(name)),
  );
  const names = [...new Set(closed.map(({ name }) => name))].join(', ');
  // Anyone who knows the key can issue tokens.
  const isUsable = names === '' || jwtSecret !== undefined || profiles.some(({ name }) => name === 'login');
  return [
    ...(isUsable
      ? []
      : [{ msg: `nobody can use ${names}: no token can be issued; add the profile login, or set jwtSecret` }]),
    ...(openRoutesNotice ? [{ msg: openRoutesNotice.warning, openRoutes: openRoutesNotice.openRoutes }] : []),
  ];
};

const reloadSettings = (app: App, log: FastifyBaseLogger, schema: TObject, flags: Flags): void => {
  try {
    const settings = loadSettings(schema, flags, undefined, (warning) => log.warn(warning));
    const notices = app.reload(settings);
    log.level = settings.logLevel;
    for (const notice of notices) process.stdout.write(`${notice}\n`);
    log.info('settings reloaded');
  } catch (err) {
    const details = err instanceof SettingsError ? {} : { err };
    log.error(
      details,
      `settings not reloaded; the old settings still apply: ${escapeControls((err as Error).message)}`,
    );
  }
};

const listen = async (app: App, { host, port, tlsCert }: Settings, log: FastifyBaseLogger): Promise<string> => {
  try {
    const address = await listenOn(app.server, await listAddresses(host), port, log);
    return toUrl(tlsCert === undefined ? 'http' : 'https', address);
  } catch (error) {
    await app.server.close();
    const reason = reasons[(error as NodeJS.ErrnoException).code ?? ''] ?? (error as Error).message;
    throw new SettingsError([`cannot listen on host ${JSON.stringify(host)}, port ${port}: ${reason}`]);
  }
};

/**
 * Heap size in bytes above which `freeMemory` runs before the server listens, because running it later would delay
 * requests too long.
 */
const largeHeapBytes = 64 * MiB;

/** Milliseconds between listening and `freeMemory`. The delay keeps the first response from waiting. */
const startGarbageMs = 100;

const reasons: Record<string, string> = {
  EADDRINUSE: 'the port is in use; choose another port with --port',
  EACCES: 'this account is not allowed to use the port; choose a port above 1023 with --port',
  EADDRNOTAVAIL: 'this machine does not have this address; choose another address with --host',
  ENOTFOUND: 'the host name is unknown; choose another name with --host',
};

/** Formats the server's URL. Fastify's own text shows 127.0.0.1 even if the server listens on every address. */
const toUrl = (scheme: string, { address, family, port }: AddressInfo): string =>
  `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;

/**
 * Creates the text printed on startup: the addresses of the console and for alerts, the mounts, the routes that need no
 * token, and notices such as random passwords.
 */
const createStartMessage = (
  { mounts, home, notices, invitation }: Pick<App, 'mounts' | 'home' | 'notices' | 'invitation'>,
  address: string,
  { store, publicUrl }: Settings,
): string => {
  // `publicUrl` is a setting of notifications, and these may be disabled.
  const reached = typeof publicUrl === 'string' ? publicUrl.replace(/\/+$/, '') : undefined;
  const intake = mounts.find(({ profiles }) => profiles.some(({ name }) => name === 'alerts'));
  const local = address.replace(/\/\/(?:0\.0\.0\.0|\[::\]):/, '//localhost:');
  const addresses = [
    ...(home === '/docs/' ? [] : [['Console', `${local}${home}`]]),
    ...(intake ? [['Send alerts', `${local}${toPrefix(intake.base)}/api/alert`]] : []),
    ['API', `${local}/docs/`],
  ];
  const served = new Set(mounts.flatMap(({ profiles }) => profiles.map(({ name }) => name)));
  const isForgetful = store === 'memory' && forgetful.some((name) => served.has(name));
  return [
    `signalbox ${programVersion} listens on ${address}`,
    '',
    ...alignColumns(addresses),
    '',
    ...alignColumns(mounts.map(({ base, profiles }) => [base, profiles.map(({ name }) => name).join(', ')])),
    '',
    `Open without a token: ${describeOpenProfiles(mounts)}`,
    ...(isForgetful ? ['Tasks and items are lost when the server stops; --store file keeps them.'] : []),
    // The page for the invitation is part of the console.
    ...(invitation && home !== '/docs/'
      ? ['', `${invitation.text}: ${reached ?? local}${home}${invitation.fragment}`]
      : []),
    ...(notices.length > 0 ? ['', ...notices] : []),
    '',
  ].join('\n');
};

const alignColumns = (rows: readonly (readonly string[])[]): string[] => {
  const width = Math.max(...rows.map(([first = '']) => first.length)) + 2;
  return rows.map(([first = '', second]) => `  ${first.padEnd(width)}${second}`);
};

/** Lists the profiles whose routes are all open, then the profiles with some open routes, marked `in part`. */
const describeOpenProfiles = (mounts: App['mounts']): string => {
  const isOpen = ({ access }: { access: string }): boolean => access === 'open';
  const profiles = mounts.flatMap((mount) => mount.profiles).filter(({ routes }) => routes.some(isOpen));
  const listNames = (areWhole: boolean): string =>
    [...new Set(profiles.filter(({ routes }) => routes.every(isOpen) === areWhole).map(({ name }) => name))].join(', ');
  const [whole, inPart] = [listNames(true), listNames(false)];
  return (
    [whole, ...(inPart === '' ? [] : [`in part: ${inPart}`])].filter((part) => part !== '').join('; ') || 'nothing'
  );
};
