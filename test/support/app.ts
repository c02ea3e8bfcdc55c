import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyBaseLogger, FastifyInstance, InjectOptions } from 'fastify';
import { pino } from 'pino';
import { createApp } from '../../src/app/create-app.ts';
import { loadSettings } from '../../src/config/load.ts';
import { createSettingsSchema } from '../../src/config/schema.ts';
import type { Feature } from '../../src/profiles/feature.ts';
import { features as allFeatures } from '../../src/profiles/index.ts';

/** Passwords and the signing key that test apps are given. */
export const passwords = { admin: 'correct horse', reader: 'battery staple' };
export const secret = 'a signing key for tests, 32 bytes or more';

/** What ends sooner or later and is tidied up then: a test, as a rule. */
export interface Scope {
  after(tidyUp: () => unknown): void;
}

interface Options {
  /** Settings as a config file holds them. */
  settings?: Record<string, unknown>;
  /** The seed file's content. */
  seed?: unknown;
  features?: readonly Feature[];
  /** Gets what the program logs; nothing does where it is not given. */
  log?: FastifyBaseLogger;
}

export interface Answer<T> {
  status: number;
  headers: Record<string, unknown>;
  text: string;
  /** The body read as JSON; undefined when it is empty. */
  json: T;
}

export interface TestApp {
  server: FastifyInstance;
  /** Lines for people that the start prints. */
  notices: string[];
  /** Sends a request as a client on this machine would; a body that is no text goes out as JSON. */
  request<T = Record<string, unknown>>(
    method: string,
    path: string,
    options?: RequestOptions,
  ): Promise<Answer<T>>;
  /** Logs in and returns the token. */
  login(name: 'admin' | 'reader', base?: string): Promise<string>;
  folder: string;
}

interface RequestOptions {
  body?: unknown;
  headers?: Record<string, string>;
  token?: string;
}

/** A folder that is gone when the test, or what else it is for, ends. */
export const createFolder = (t: Scope): string => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** The whole app with settings of its own and an empty data folder; ended with the test. */
export const startApp = async (
  t: Scope,
  { settings = {}, seed, features = allFeatures, log = pino({ level: 'silent' }) }: Options = {},
): Promise<TestApp> => {
  const folder = createFolder(t);
  const config = {
    dataDir: join(folder, 'data'),
    adminPassword: passwords.admin,
    readerPassword: passwords.reader,
    jwtSecret: secret,
  };
  if (seed !== undefined) Object.assign(config, { seed: writeJson(folder, 'seed.json', seed) });
  const path = writeJson(folder, 'config.json', { ...config, ...settings });
  const schema = createSettingsSchema(allFeatures.map((feature) => feature.settings));
  const app = await createApp(loadSettings(schema, { config: path }, {}), {
    log,
    nodeVersion: process.versions.node,
    features,
  });
  t.after(() => app.server.close());
  const request = createClient(app.server);
  const login = async (name: 'admin' | 'reader', base = '') => {
    const { json } = await request('POST', `${base}/api/auth/login`, {
      body: { Username: name, Password: passwords[name] },
    });
    return json.token as string;
  };
  return { server: app.server, notices: app.notices, request, login, folder };
};

const writeJson = (folder: string, name: string, value: unknown): string => {
  const path = join(folder, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, JSON.stringify(value));
  return path;
};

const createClient =
  (server: FastifyInstance): TestApp['request'] =>
  async <T>(method: string, path: string, { body, headers, token }: RequestOptions = {}) => {
    const payload =
      body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const response = await server.inject({
      method: method as NonNullable<InjectOptions['method']>,
      url: path,
      headers: {
        host: '127.0.0.1:8080',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(payload !== undefined && { payload }),
    });
    return {
      status: response.statusCode,
      headers: response.headers,
      text: response.body,
      json: readJson(response.body) as T,
    };
  };

const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
