import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { type Flags, loadSettings } from '../../src/config/load.ts';
import { createSettingsSchema } from '../../src/config/schema.ts';
import { SettingsError } from '../../src/config/settings-error.ts';
import { features as allFeatures } from '../../src/features/index.ts';
import { createLinuxReadings } from '../../src/host/index.ts';
import type { Feature } from '../../src/kit/feature.ts';
import { type App, createApp } from '../../src/server/create-app.ts';
import { openStorage } from '../../src/server/storage.ts';
import type { Patience } from '../../src/storage/postgres/database.ts';
import { type Client, createClient, type Request } from './client.ts';
import { passwords, secret } from './credentials.ts';
import { createFolder } from './folder.ts';
import { atEnd, type Scope } from './scope.ts';
import { createTestStore } from './test-store.ts';

export { passwords, secret };

export const settingsSchema = createSettingsSchema(allFeatures.map(({ settings }) => settings));

interface Options {
  /** Settings in the form of the config file. */
  settings?: object;
  /** Flags by camelCase key, and variables. Both override the config file. */
  flags?: Flags;
  variables?: Record<string, string>;
  /** Content of the seed file. */
  seed?: unknown;
  features?: readonly Feature[];
  /** Port. Default: a free port. */
  port?: number;
  /** Limits for requests that wait for an unresponsive database. */
  patience?: Patience;
  /** Folder with `proc`, `sys` and `etc` of another machine, whose readings are shown. */
  hostRoot?: string;
  /** Receives the log of the app. By default, the log is discarded. */
  log?: FastifyBaseLogger;
}

export interface Listening {
  /** URL that the app listens on, e.g. `http://127.0.0.1:43210`. */
  url: string;
  /** Sends a request over a socket, as a client on this machine would. */
  request: Request;
  /** Closes the app before the test ends. */
  close(): Promise<void>;
}

export interface TestApp extends App, Listening {
  /** Logs in and returns the token. */
  login(name: 'admin' | 'reader', base?: string): Promise<string>;
  /** Folder that contains the data directory, `data`. */
  folder: string;
}

/**
 * Starts the whole app on 127.0.0.1, with its own settings and data directory. The app is closed when the test ends.
 */
export const startApp = async (
  t: Scope,
  {
    settings = {},
    flags,
    variables = {},
    seed,
    patience,
    features = allFeatures,
    port = 0,
    hostRoot,
    log = pino({ level: 'silent' }),
  }: Options = {},
): Promise<TestApp> => {
  const folder = createFolder(t);
  const config = {
    dataDir: join(folder, 'data'),
    ...(await createTestStore(t)),
    adminPassword: passwords.admin,
    readerPassword: passwords.reader,
    jwtSecret: secret,
    // Problems with the machine that runs the tests must not open incidents.
    defaultWatches: false,
    ...(seed !== undefined && { seed: writeJson(folder, 'seed.json', seed) }),
  };
  const path = writeJson(folder, 'config.json', { ...config, ...settings });
  const warnings: string[] = [];
  const loaded = loadSettings(settingsSchema, { config: path, ...flags }, variables, (each) => warnings.push(each));
  const app = await createApp(loaded, {
    log,
    features,
    ...(hostRoot !== undefined && { host: createLinuxReadings(hostRoot) }),
    openStorage: (all, parts) => openStorage(all, patience ? { ...parts, patience } : parts),
  });
  const listening = await listen(t, app.server, port);
  const login = async (name: 'admin' | 'reader', base = '') => {
    const body = { Username: name, Password: passwords[name] };
    const { json } = await listening.request('POST', `${base}/api/auth/login`, { body });
    return json['token'] as string;
  };
  return { ...app, ...listening, warnings: [...warnings, ...app.warnings], login, folder };
};

/** Returns the error with which an app refuses to start with these settings or this seed file. */
export const startRefusal = async (t: Scope, options: Options): Promise<string> => {
  const error = await startApp(t, options).then(
    () => assert.fail('the app has started'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof SettingsError, String(error));
  return error.message;
};

/** Starts any Fastify app on 127.0.0.1, by default on a free port. The app is closed when the test ends. */
export const listen = async (t: Scope, server: FastifyInstance, port = 0): Promise<Listening> => {
  let client: Client | undefined;
  const close = async (): Promise<void> => {
    client?.close();
    await server.close();
  };
  atEnd(t, close);
  const url = await server.listen({ host: '127.0.0.1', port });
  client = createClient(url);
  return { url, request: client.request, close };
};

/** Creates a function that sends requests to any Fastify app. The app starts listening on the first request. */
export const createRequest = (t: Scope, server: FastifyInstance): Request => {
  let listening: Promise<Listening> | undefined;
  return async (method, path, options) => {
    listening ??= listen(t, server);
    return (await listening).request(method, path, options);
  };
};

const writeJson = (folder: string, name: string, value: unknown): string => {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(value), { mode: 0o600 });
  return path;
};
