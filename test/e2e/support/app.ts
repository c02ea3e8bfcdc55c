import assert from 'node:assert/strict';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeConfig } from '../../support/config-file.ts';
import { passwords, secret } from '../../support/credentials.ts';
import { createFolder } from '../../support/folder.ts';
import { type Running, startProgram } from '../../support/program.ts';
import { atEnd, createScope, type Scope } from '../../support/scope.ts';

/** The program as published. */
const program = fileURLToPath(new URL('../../../dist/signalbox.js', import.meta.url));

/** True if tests take their long forms: more kills, more records. */
export const isLong = process.env['SIGNALBOX_TEST_LONG'] === '1';

interface Options {
  /** Settings as a config file holds them. */
  settings?: Record<string, unknown>;
  /** The seed file's content. */
  seed?: object;
}

interface PublishedOptions extends Options {
  /** Those of a program that has ended, for one that takes its place. */
  folder?: string;
  port?: number;
  /** A module that Node loads before the program. */
  preload?: string;
  /** Environment variables of the program. */
  variables?: Record<string, string>;
}

export interface TestApp extends Pick<Running, 'url' | 'request'> {
  /** Logs in and returns the token. */
  login(name: 'admin' | 'reader'): Promise<string>;
  /** Contains the data directory, `data`. */
  folder: string;
}

/** An app in the process of the test. */
type LocalApp = TestApp & { close(): Promise<void> };

// On a busy machine the browser's own load would count as an overload.
const always = { maxEventLoopDelay: 0 };

/** What `npm test` has compiled, which is not compiled again for each process of the tests. */
const compiled = new URL('../../../dist/test/support/app.js', import.meta.url).href;

/** Starts the app in this process, with settings and a data directory of its own; closed when the test ends. */
export const startApp = async (scope: Scope, { settings = {}, seed }: Options = {}): Promise<LocalApp> => {
  const { startApp: start } = (await import(compiled)) as typeof import('../../support/app.ts');
  const own = createScope();
  atEnd(scope, own.end);
  return start(own, { settings: { ...always, ...settings }, ...(seed !== undefined && { seed }) });
};

/**
 * Starts the program as published on a free port, with settings and a data directory of its own; killed when the test ends.
 * For what only a process has: output, variables, an end without warning.
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

/** Sends an alert that must be stored; resolves to its id. */
export const sendAlert = async ({ request }: Pick<TestApp, 'request'>, body: unknown): Promise<string> => {
  const { status, json } = await request('POST', '/api/alert', { body });
  assert.equal(status, 200);
  return String(json['id']);
};
