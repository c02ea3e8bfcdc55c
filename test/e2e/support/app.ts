import assert from 'node:assert/strict';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeConfig } from '../../support/config-file.ts';
import { passwords, secret } from '../../support/credentials.ts';
import { createFolder } from '../../support/folder.ts';
import { type Running, startProgram } from '../../support/program.ts';
import type { Scope } from '../../support/scope.ts';

/** The program as published. */
const program = fileURLToPath(new URL('../../../dist/signalbox.js', import.meta.url));

/** True if tests take their long forms: more kills, more records. */
export const isLong = process.env['SIGNALBOX_TEST_LONG'] === '1';

interface Options {
  /** Settings as a config file holds them. */
  settings?: Record<string, unknown>;
  /** The seed file's content. */
  seed?: object;
  /** Those of a program that has ended, for one that takes its place. */
  folder?: string;
  port?: number;
  /** A module that Node loads before the program. */
  preload?: string;
  /** Environment variables of the program. */
  variables?: Record<string, string>;
}

export interface TestApp extends Running {
  /** Logs in and returns the token. */
  login(name: 'admin' | 'reader'): Promise<string>;
  /** Contains the data directory, `data`. */
  folder: string;
}

/** Starts the program on a free port with settings and a data directory of its own; killed when the test ends. */
export const startApp = async (
  scope: Scope,
  { settings = {}, seed, folder = createFolder(scope), port = 0, preload, variables = {} }: Options = {},
): Promise<TestApp> => {
  const config = writeConfig(folder, {
    ...{ dataDir: join(folder, 'data'), logLevel: 'silent', jwtSecret: secret },
    // On a busy machine the browser's own load would count as an overload.
    maxEventLoopDelay: 0,
    ...{ adminPassword: passwords.admin, readerPassword: passwords.reader },
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
