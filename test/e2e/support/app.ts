import assert from 'node:assert/strict';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeConfig } from '../../support/config-file.ts';
import { passwords, secret } from '../../support/credentials.ts';
import { createFolder } from '../../support/folder.ts';
import { type Running, startProgram } from '../../support/program.ts';
import { atEnd, createScope, type Scope } from '../../support/scope.ts';

/** Path of the published program. */
const program = fileURLToPath(new URL('../../../dist/signalbox.js', import.meta.url));

/** True if tests run in their long form, with more kills and records. */
export const isLong = process.env['SIGNALBOX_TEST_LONG'] === '1';

interface Options {
  /** Settings as in a config file. */
  settings?: Record<string, unknown>;
  /** Content of the seed file. */
  seed?: object;
}

interface PublishedOptions extends Options {
  /** Folder of an earlier program that has ended and that the new program replaces. */
  folder?: string;
  port?: number;
  /** Module for Node to load before the program. */
  preload?: string;
  /** Environment variables of the program. */
  variables?: Record<string, string>;
}

export interface TestApp extends Pick<Running, 'url' | 'request'> {
  /** Logs in and returns the token. */
  login(name: 'admin' | 'reader'): Promise<string>;
  /** Parent folder of the data directory, `data`. */
  folder: string;
}

/** App in the test's own process. */
type LocalApp = TestApp & { close(): Promise<void> };

// Disabled, because the browser's load on a busy machine would count as an overload.
const always = { maxEventLoopDelay: 0 };

/** Module bundled by setup.ts. */
const bundled = new URL('../../../dist/e2e/app.js', import.meta.url).href;

/** Starts the app in this process, with its own data directory. The app is closed when the test ends. */
export const serveApp = async (scope: Scope, { settings = {}, seed }: Options = {}): Promise<LocalApp> => {
  const { startApp: start } = (await import(bundled)) as typeof import('../../support/app.ts');
  const own = createScope();
  atEnd(scope, own.end);
  return start(own, { settings: { ...always, ...settings }, ...(seed !== undefined && { seed }) });
};

/**
 * Starts the published program on a free port, with its own data directory. The program is killed when the test ends.
 * Needed for tests of output, environment variables and kills.
 */
export const startPublished = async (
  scope: Scope,
  { settings = {}, seed, folder = createFolder(scope), port = 0, preload, variables = {} }: PublishedOptions = {},
): Promise<TestApp & Running> => {
  const config = writeConfig(folder, {
    dataDir: join(folder, 'data'),
    logLevel: 'silent',
    jwtSecret: secret,
    ...always,
    adminPassword: passwords.admin,
    readerPassword: passwords.reader,
    ...(seed !== undefined && { seed: writeConfig(folder, seed, 'seed.json') }),
    ...settings,
  });
  const node = [process.execPath, ...(preload === undefined ? [] : ['--import', preload])];
  const args = ['--config', config, '--port', String(port)];
  const running = await startProgram(scope, args, { program: [...node, program], variables });
  const login = async (name: 'admin' | 'reader') => {
    const body = { Username: name, Password: passwords[name] };
    const { json } = await running.request('POST', '/api/auth/login', { body });
    return String(json['token']);
  };
  return { ...running, login, folder };
};

/** Sends an alert and checks that it was stored. Resolves to the alert's id. */
export const sendAlert = async ({ request }: Pick<TestApp, 'request'>, body: unknown): Promise<string> => {
  const { status, json } = await request('POST', '/api/alert', { body });
  assert.equal(status, 200);
  return String(json['id']);
};
