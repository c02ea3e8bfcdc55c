import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { startReceiver } from '../../test/support/receiver.ts';
import { quantile } from '../support/finding.ts';
import { ask, createPost, password, send } from '../support/requests.ts';
import type { Measure } from '../support/run.ts';
import { type Server, startSignalbox } from '../support/server.ts';

/** Number of concurrent requests that store settings. */
const writers = 16;

/** Milliseconds before retrying a request to an overloaded server. */
const overloadMs = 100;

/** Milliseconds between two requests to `/livez`. */
const everyMs = 20;

/** Number of alerts that the silences, watches and destinations evaluate, and number of characters per text. */
const alerts = { count: 200, characters: 4000 };

/** Setting to create. */
interface Wanted {
  path: string;
  value: object;
}

/** Stores settings until the server has no room for more. Throws if no limit explains a refusal. */
const fill = async (server: Server, token: string, most: number, toWanted: (index: number) => Wanted) => {
  let [next, stored, isFull] = [0, 0, false];
  const write = async (): Promise<void> => {
    for (let index = next++; index < most && !isFull; index = next++) {
      const { path, value } = toWanted(index);
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      // Some kinds are named in the path.
      const method = /\d$/.test(path) ? 'PUT' : 'POST';
      const request = { method, headers, body: JSON.stringify(value) } as const;
      let answer = await send(`${server.url}${path}`, request);
      while (answer?.status === 503) {
        await setTimeout(overloadMs);
        answer = await send(`${server.url}${path}`, request);
      }
      if (answer?.status === 409) isFull = true;
      else if (answer && answer.status < 300) stored += 1;
      else throw new Error(`${method} ${path} answered ${answer?.status}: ${answer?.text.slice(0, 500)}`);
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
  return stored;
};

/**
 * Creates a costly expression. To match a string of a and b, an engine keeps as many states as the repetition count.
 */
const toCostly = (index: number): string => `[ab]*a[ab]{90}c${index}`;
const toText = (index: number): string =>
  Array.from({ length: alerts.characters }, (_, at) => ((at * at + index) % 7 < 3 ? 'a' : 'b')).join('');

const days = (count: number): string => new Date(Date.now() + count * 86_400_000).toISOString();
const long = 'x'.repeat(4000);
const everyMinute = { schedule: '* * * * *', timeZone: 'Australia/Lord_Howe' };

/**
 * Creates a silence with a matcher that many alerts pass, followed by an expression that is then tested on those
 * alerts.
 */
const costlySilence = (index: number): object => ({
  endsAt: days(1),
  matchers: [
    { name: 'source', value: 'shop', isRegex: false, isEqual: true },
    { name: 'text', value: toCostly(index), isRegex: true, isEqual: false },
  ],
});

const wildcards = '*-*-*-*-*-*-*-*-*'.repeat(10);

const toWatch = (index: number, receiver: string): object => {
  const common = { name: `w${index}`, every: 1, message: long };
  if (index % 4 === 0) return { type: 'http', url: `${receiver}/${index}`, contains: 'never there', ...common };
  if (index % 4 === 1) return { type: 'process', process: `${wildcards}${index}`, metric: 'cpu', limit: 1, ...common };
  if (index % 4 === 2)
    return { type: 'alert', source: `${wildcards}${index}`, metric: 'count', minutes: 10_080, limit: 9000, ...common };
  return { type: 'service', units: Array.from({ length: 100 }, (_, at) => `${at}${wildcards}`), ...common };
};

/** Lists the most expensive values for each kind of setting. */
const listKinds = (receiver: string): [most: number, toWanted: (index: number) => Wanted][] => {
  const every = 'message {message} title {title} labels {labels} link {acknowledgeUrl} ';
  return [
    [10_000, (index) => ({ path: '/api/silences', value: costlySilence(index) })],
    [1000, () => ({ path: '/api/silences', value: { match: { source: wildcards }, minutes: 10_080, ...everyMinute } })],
    [
      10_000,
      (index) => ({
        path: '/api/silences',
        value: { match: { source: `other ${index}` }, endsAt: days(1), comment: 'x'.repeat(500) },
      }),
    ],
    [1000, (index) => ({ path: '/api/watches', value: toWatch(index, receiver) })],
    [
      5000,
      (index) => ({
        path: `/api/heartbeats/h${index}`,
        value: { ...everyMinute, grace: 60, description: long.slice(0, 400) },
      }),
    ],
    [
      100,
      (index) => ({
        path: `/api/destinations/d${index}`,
        value: {
          type: 'template',
          url: `${receiver}/${index}`,
          notify: 'incidents',
          groupSeconds: 0,
          body: JSON.stringify({ text: every.repeat(20) }),
        },
      }),
    ],
    [100, (index) => ({ path: `/api/intake-formats/f${index}`, value: { message: '{/a/b/c/d} '.repeat(180) } })],
    [1000, (index) => ({ path: '/api/keys', value: { name: `k${index}`, scopes: ['alerts:write'] } })],
    [
      200,
      (index) => ({
        path: '/api/users',
        value: { name: `u${index}`, role: 'Reader', password: `a long password ${index}` },
      }),
    ],
  ];
};

const logIn = async ({ url }: Server): Promise<string> =>
  JSON.parse(await ask(createPost(`${url}/api/auth/login`, { Username: 'admin', Password: password }))).token;

/** Measures response times of `/livez` while the given work runs. */
const watchLiveness = async (url: string, work: Promise<unknown>): Promise<number[]> => {
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  const answers = [];
  while (!isOver) {
    answers.push(send(`${url}/livez`));
    await setTimeout(everyMs);
  }
  await ended;
  return (await Promise.all(answers)).map((answer) => (answer?.status === 200 ? answer.ms : Number.POSITIVE_INFINITY));
};

const readResidentMiB = (pid: number): number => {
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) / 1024;
};

/** Sends alerts that affect all settings, while users request lists and apply filters. */
const live = async ({ url }: Server, token: string): Promise<void> => {
  const headers = { authorization: `Bearer ${token}` };
  for (let index = 0; index < alerts.count; index += 1) {
    const labels = { team: 'shop', index: `${index}` };
    await ask(createPost(`${url}/api/alert`, { source: 'shop', level: 'ERROR', message: toText(index), labels }));
    if (index % 25 !== 0) continue;
    for (const path of ['incidents?limit=1000', 'silences?limit=1000', 'heartbeats', 'watches', 'v2/alerts'])
      await ask({ url: `${url}/api/${path}`, headers });
  }
};

/** Fills every kind of runtime setting with its most expensive values, and measures liveness, memory and startup. */
export const measureHostileSettings: Measure = async ({ scope }) => {
  const { url: receiver } = await startReceiver(scope);
  const dataDir = `${scope.folder}/data`;
  const config = { rotations: [], watchTargets: ['127.0.0.0/8'] };
  const options = { config, dataDir, flags: ['--store', 'file', '--keep-secrets'] };
  const first = await startSignalbox(scope, options);
  const token = await logIn(first);
  const stored = [];
  for (const [most, toWanted] of listKinds(receiver)) stored.push(await fill(first, token, most, toWanted));
  const times = await watchLiveness(first.url, live(first, token));
  const peak = readResidentMiB(first.pid);
  first.child.kill('SIGKILL');
  const second = await startSignalbox(scope, options);
  const again = await watchLiveness(second.url, live(second, await logIn(second)));
  const rounds = `${stored.map((count) => count.toLocaleString('en')).join(' + ')} settings`;
  return [
    {
      rounds,
      work: 'p99 of GET /livez during alerts and lists',
      unit: ' ms',
      ours: [quantile(times, 0.99)],
      goal: '≤ 100 ms',
    },
    { rounds, work: 'the same after a restart', unit: ' ms', ours: [quantile(again, 0.99)], goal: '≤ 100 ms' },
    { rounds, work: 'start after SIGKILL', unit: ' s', ours: [second.startMs / 1000], goal: '≤ 10 s' },
    {
      rounds,
      work: 'memory at most',
      unit: ' MiB',
      ours: [Math.max(peak, readResidentMiB(second.pid))],
      goal: '≤ 600 MiB',
    },
  ];
};
