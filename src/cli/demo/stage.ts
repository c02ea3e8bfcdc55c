import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TObject } from 'typebox';
import { createAccessKey } from '../../auth/access.ts';
import { hashPassword } from '../../auth/password.ts';
import { callServer, parseObject } from '../remote/server.ts';
import { startServer } from '../serve/serve.ts';
import type { Narrator } from './narrator.ts';

/** Seconds until the phone of the person on call rings for an unacknowledged incident. */
const escalationSeconds = 12;

/** Seconds between two runs of the job (minimum 10), and seconds of its grace period. */
export const periodSeconds = 10;
const graceSeconds = 3;

const timeoutMs = 15_000;

/** Senders of requests: people, and programs with their own keys. */
type Caller = 'alertmanager' | 'uptime-kuma' | 'cron' | 'anna' | 'admin';

export interface Stage {
  /** Sends a request and resolves to the body of a successful response. */
  call(caller: Caller, method: string, path: string, body?: object): Promise<Record<string, unknown>>;
  /** Path of the job's heartbeat address. */
  pingPath: string;
  url: string;
}

/** Parts of the demonstration that the story uses. */
export interface Scene extends Stage {
  narrator: Narrator;
  /** Waits for a number of seconds of the story. Rejects if the story ends early. */
  pause(seconds: number): Promise<void>;
  /** Aborted when the demonstration ends. */
  end: AbortSignal;
  /** Folder that the demonstration may write to. */
  folder: string;
}

interface StageParts {
  /** Schema of the settings. */
  schema: TObject;
  folder: string;
  /** Address that notifications are sent to. */
  receiver: string;
  /** Fraction of the normal duration. */
  pace: number;
}

const users = [
  { name: 'admin', role: 'Admin' },
  { name: 'anna', role: 'Reader' },
] as const;

const senders = ['alertmanager', 'uptime-kuma', 'cron'] as const;

/** Starts the server in the folder, with everything the story needs. */
export const openStage = async ({ schema, folder, receiver, pace }: StageParts) => {
  const passwords = { admin: toPassword(), anna: toPassword() };
  const oncall = createAccessKey('oncall', ['incidents:write']);
  const keys = senders.map((name) => ({ name, ...createAccessKey(name, ['alerts:write']) }));
  const ping = randomUUID();
  const files = join(folder, 'srv');
  mkdirSync(files);
  writeFileSync(join(files, 'dump.tar'), randomBytes(200_000));
  const incidents = { type: 'webhook', notify: 'incidents', groupSeconds: 0 };
  const phone = { ...incidents, after: (escalationSeconds * pace) / 60 };
  const config = {
    host: '127.0.0.1',
    port: 0,
    dataDir: join(folder, 'data'),
    store: 'file',
    jwtSecret: randomBytes(32).toString('base64'),
    defaultWatches: false,
    users: await Promise.all(
      users.map(async ({ name, role }) => ({ name, role, passwordHash: await hashPassword(passwords[name]) })),
    ),
    keys: [oncall, ...keys].map(({ entry }) => entry),
    destinations: [
      {
        name: 'team-chat',
        url: `${receiver}team-chat`,
        ...incidents,
        on: ['opened', 'raised', 'acknowledged', 'resolved'],
      },
      ...['anna-phone', 'ben-phone'].map((name) => ({ name, url: receiver + name, ...phone })),
    ],
    rotations: [{ name: 'oncall', members: ['anna-phone', 'ben-phone'], handover: '0 9 * * 1' }],
    heartbeats: [
      {
        name: 'nightly-backup',
        uuid: ping,
        period: periodSeconds,
        grace: Math.ceil(graceSeconds * pace),
        description: 'Dumps the database; in this demo, every 10 seconds instead of every night.',
      },
    ],
    watches: [
      { name: 'dump', type: 'file', path: join(files, '*.tar'), minBytes: 100_000, message: 'See nightly-backup.' },
    ],
  };
  const path = join(folder, 'signalbox.json');
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  const { url, close } = await startServer(schema, path);
  const request = async (method: string, target: string, token?: string, body?: object) => {
    const reply = await callServer({ url: new URL(url), key: token }, target, { method, body, timeoutMs });
    if (reply.status === 0 || reply.status >= 300) throw new Error(`${method} ${target}: ${reply.reason}`);
    return parseObject(reply.text);
  };
  const logIn = async (name: keyof typeof passwords): Promise<string> => {
    const body = { Username: name, Password: passwords[name] };
    return String((await request('POST', '/api/auth/login', undefined, body))['token']);
  };
  const tokens: Record<Caller, string> = {
    admin: await logIn('admin'),
    anna: await logIn('anna'),
    ...(Object.fromEntries(keys.map(({ name, key }) => [name, key])) as Record<(typeof senders)[number], string>),
  };
  return {
    url,
    close,
    pingPath: `/ping/${ping}`,
    call: (caller: Caller, method: string, target: string, body?: object) =>
      request(method, target, tokens[caller], body),
    welcome: [
      'This demo runs a real server with simulated senders. Ctrl+C ends the demo and deletes everything.',
      '',
      `  Console   ${url}/console/`,
      `  Log in    admin / ${passwords.admin}`,
      '',
      '  From another terminal:',
      `  export SIGNALBOX_URL=${url}`,
      `  export SIGNALBOX_KEY=${oncall.key}`,
      '  signalbox incidents',
      '',
      '',
    ].join('\n'),
  };
};

/** Creates an easily typed password. */
const toPassword = (): string => randomBytes(6).toString('hex');
