import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { alert } from '../support/alert-log.ts';
import { compile } from '../support/compile.ts';
import type { Finding } from '../support/finding.ts';
import * as opponents from '../support/opponents.ts';
import { ask, createPost, type LoadRequest, logIn } from '../support/requests.ts';
import { compareRates, createSide } from '../support/rounds.ts';
import type { Bench, Row } from '../support/run.ts';
import * as servers from '../support/server.ts';
import { createSeedTask, newTask } from '../support/tasks.ts';

/** Request to one of signalbox's paths. */
interface Ours extends LoadRequest {
  hasToken?: boolean;
  options?: servers.SignalboxOptions | ((scope: servers.Scope) => Promise<servers.SignalboxOptions>);
  /** Requests sent before the measurement. */
  before?: LoadRequest[];
  /** Returns the part of a response that must be the same on both sides. */
  toSame?(answer: string): unknown;
  /** Returns the amount of work in a response. Needed if responses differ. */
  weigh?(answer: string): number;
  /** Minimum duration of a round in seconds. */
  minSeconds?: number;
}

/**
 * Request for comparison: to another program (which may need our response), or to another path of signalbox. Without
 * `options`, the request goes to the same server.
 */
interface Beside extends LoadRequest {
  name: string;
  program?(answer: string, scope: servers.Scope): servers.ServerOptions;
  options?: servers.SignalboxOptions;
}

type HttpLine = [id: string, work: string, goal: string | undefined, ours: Ours, beside: Beside];

const sameBytes = (kind: 'text' | 'buffer' = 'text'): Beside => {
  return { name: `node:http, same bytes, ${kind}`, url: '/', program: (answer) => opponents.createBare(answer, kind) };
};
const parsed: Beside = {
  name: 'node:http, body parsed, constant response',
  ...createPost('/', newTask),
  program: (answer) => opponents.createBare(answer, 'parse'),
};

const thousand = { options: { tasks: 1000 } };
const million = { options: { tasks: 1_000_000 } };
const pending = { url: '/api/tasks?status=Pending' };
const create = createPost('/api/tasks', newTask);
const firstTask: Ours = { url: '/api/tasks/1', before: [create] };
const lists = {
  '': 'all match',
  '?status=Pending': 'every second matches',
  '?priority=Critical': 'fifty match, spread over all',
  '?status=Cancelled': 'the last ten match',
  '?status=Cancelled&priority=High': 'some of the last ten match',
  '?status=Completed': 'none matches',
};
/** Preloads a copy of the program's own tick object. If the program no longer creates its own, this side is faster. */
const tickShapeKept: Beside = {
  name: 'itself with the shape of tick objects kept by a preloaded module',
  url: '/api/tasks',
  options: { variables: { NODE_OPTIONS: `--import=${compile('src/lib/keep-tick-shape')}` } },
};
const toCount = (answer: string): unknown => JSON.parse(answer).count;

const tasks: HttpLine[] = [
  ['B1', 'GET /api/tasks/{id}', '≥ 0.95 ×', firstTask, sameBytes()],
  ['B2', 'GET /api/tasks?status=Pending, 50 of 1,000,000', '≥ 0.8 ×', { ...pending, ...million }, sameBytes('buffer')],
  ...Object.entries(lists).map(([query, matches]): HttpLine => {
    const [url, name] = [`/api/tasks${query}`, 'itself at 1,000'];
    const ours = { url, ...million, toSame: toCount };
    return ['B3', `GET ${url} at 1,000,000: ${matches}`, '≥ 0.95 ×', ours, { name, url, ...thousand }];
  }),
  ['B4', 'POST /api/tasks', '≥ 0.9 ×', create, parsed],
];

const toAlert = (more: object) => ({
  labels: { alertname: 'backup', severity: 'ERROR', instance: 'web-1', ...more },
  annotations: { summary: 'the disk is full' },
});
const createNew = (count: number): LoadRequest =>
  createPost(
    '/api/v2/alerts',
    Array.from({ length: count }, (_, index) => toAlert({ job: `${index}.[<id>]` })),
  );
const [known, one, ten] = [createPost('/api/v2/alerts', [toAlert({})]), createNew(1), createNew(10)];

/** Load for Alertmanager. It keeps alerts in memory, and alerts with labels that it already knows are the cheapest. */
const alertmanager = (request: LoadRequest): Beside => {
  return { name: 'Alertmanager, POST /api/v2/alerts, in memory', ...request, program: () => opponents.alertmanager };
};

const createAlert = createPost('/api/alert', alert);
/** The least that durable intake needs. */
const leastIntake: Beside = {
  name: 'node:http, line with id and time, fdatasync for each batch',
  ...createPost('/', alert),
  program: () => opponents.createBare('', 'store'),
};
const withDestination: Ours = {
  ...createAlert,
  options: async (scope) => {
    const { url } = await servers.startServer(scope, opponents.sink);
    return { config: { destinations: [{ name: 'sink', type: 'webhook', url }] } };
  },
};
const withFile: Ours = { ...create, options: { flags: ['--store', 'file'] } };
const inMemory: Beside = { name: 'itself with --store memory', ...create, options: {} };
const stored = 'answered after fdatasync';

/** Alerts about 10^5 different problems per round. Each alert opens an incident, up to the limit on open incidents. */
const storm = createPost('/api/alert', { ...alert, key: '[<id>]' });
const withIncidents: Ours = { ...storm, minSeconds: 6, options: {} };
const withoutIncidents: Beside = {
  name: 'itself with alerts that open no incident',
  ...storm,
  options: { flags: ['--incident-level', 'CRITICAL'] },
};

const durable: HttpLine[] = [
  ['B5', `POST /api/alert, ${stored}`, '≥ 1.5 ×', createAlert, alertmanager(known)],
  ['B5', `POST /api/alert with a destination, ${stored}`, '≥ 1.3 ×', withDestination, alertmanager(known)],
  ['B5L', `POST /api/alert, ${stored}`, '≥ 0.8 ×', createAlert, leastIntake],
  ['B5b', `POST /api/v2/alerts, a new one, ${stored}`, '≥ 1.3 ×', one, alertmanager(one)],
  ['B5b', `POST /api/v2/alerts, ten new ones, ${stored}`, undefined, ten, alertmanager(ten)],
  [
    'B29',
    `POST /api/alert, each with another key, with incidents, ${stored}`,
    '≥ 0.9 ×',
    withIncidents,
    withoutIncidents,
  ],
  ['B21, B27', `POST /api/tasks, --store file, ${stored}`, '≥ 0.8 ×', withFile, inMemory],
];

/**
 * Number of connections for Glances. It handles one request at a time and refuses connections when many are waiting.
 */
const few = { connections: 8 };

/**
 * Counts the fields of all rows. signalbox has four per row. Glances has about twenty, and none of them can be left
 * out.
 */
const countFields = (answer: string): number => {
  const value = JSON.parse(answer);
  const rows: object[] = Array.isArray(value) ? value : value.data;
  return rows.reduce((sum, each) => sum + Object.keys(each).length, 0);
};
const processes: Ours = { url: '/api/processes?top=100000', ...few, weigh: countFields };
const glances: Beside = {
  name: 'fields of Glances, /api/3/processlist, at most 1 s old',
  url: '/api/3/processlist',
  ...few,
  program: () => opponents.glances,
};

/** Substitute for PowerShell. Reads the command that the server sends, and prints a row per process that `ps` lists. */
const script = String.raw`#!/bin/sh
read -r command
echo '{"command":"Get-Process"}'
ps -e -o pid=,comm= | awk '{printf "{\"row\":{\"Id\":%d,\"ProcessName\":\"%s\"}}\n", $1, $2}'
echo '{"end":true}'
`;
const writeScript = (scope: servers.Scope): string => {
  const path = join(scope.folder, 'processes');
  writeFileSync(path, script, { mode: 0o700 });
  return path;
};
const execute: Ours = {
  ...createPost('/api/execute', { command: 'Get-Process' }),
  ...few,
  hasToken: true,
  options: async (scope) => ({ config: { commandRunner: 'powershell', powershellPath: writeScript(scope) } }),
};
const webhook: Beside = {
  name: 'webhook running that script',
  url: '/hooks/run',
  ...few,
  program: (_, scope) => opponents.createWebhook(writeScript(scope)),
};

const seeded = Array.from({ length: 1000 }, (_, place) => ({ id: String(place + 1), ...createSeedTask(place, 1000) }));
const jsonServer = (request: LoadRequest, kept: object[] = seeded): Beside => {
  return { name: 'json-server', ...request, program: () => opponents.createJsonServer(kept) };
};
const toIds = (answer: string): unknown =>
  JSON.parse(answer)
    .data?.map(({ Id, id }: { Id?: number; id?: string }) => id ?? String(Id))
    .join();
const pendingIds: Ours = { ...pending, ...thousand, toSame: toIds };
const pendingPage = { url: '/tasks?Status=Pending&_page=1&_per_page=50' };

const programs: HttpLine[] = [
  ['B7', 'fields of GET /api/processes?top=100000, at most 0.5 s old', '≥ 5 ×', processes, glances],
  ['B8', 'POST /api/execute Get-Process: both run a script with ps for each request', '≥ 1 ×', execute, webhook],
  ['B9', 'GET /api/tasks/{id}', '≥ 5 ×', { url: '/api/tasks/500', ...thousand }, jsonServer({ url: '/tasks/500' })],
  ['B9', 'GET /api/tasks?status=Pending, 50 of 1,000', '≥ 10 ×', pendingIds, jsonServer(pendingPage)],
  ['B9', 'POST /api/tasks', '≥ 20 ×', create, jsonServer(createPost('/tasks', newTask), [])],
];

const guarded: Ours = { url: '/protected/api/tasks', hasToken: true, before: [create] };
const tenAlerts: Ours = { url: '/api/alerts?count=10', before: Array.from({ length: 10 }, () => createAlert) };
const empty = { name: 'GET /api/tasks, empty', url: '/api/tasks' };

const statusPage: Ours = {
  url: '/status/main',
  options: {
    config: {
      statusPages: [
        {
          name: 'main',
          title: 'Example',
          groups: [
            {
              name: 'Services',
              checks: Array.from({ length: 20 }, (_, index) => ({ name: `Service ${index}`, watch: 'memory' })),
            },
          ],
        },
      ],
    },
  },
};

const costs: HttpLine[] = [
  ['B24', 'GET /protected/api/tasks with a token', '≥ 0.95 ×', guarded, { ...empty, name: 'GET /api/tasks without' }],
  ['B25', 'GET /api/alerts?count=10', '≥ 0.9 ×', tenAlerts, sameBytes()],
  ['B26', 'GET /protected/api/tasks: 401', '≥ 1 ×', { url: '/protected/api/tasks', isRefused: true }, empty],
  ['B26', 'GET /api/nothing/here: 404', '≥ 1 ×', { url: '/api/nothing/here', isRefused: true }, empty],
  ['B38', 'GET /status/{page} with 20 checks', '≥ 0.8 ×', statusPage, sameBytes('buffer')],
  ['B36', 'GET /api/tasks, empty', '≥ 0.95 ×', { url: '/api/tasks', minSeconds: 3, options: {} }, tickShapeKept],
];

const table = [...tasks, ...durable, ...programs, ...costs];

type Start = (options: Ours['options']) => Promise<servers.Server>;

/** Measures the lines of a row one after another. Lines with the same options object share a server. */
const measure = async (bench: Bench, id: string): Promise<Finding[]> => {
  const shared = new Map<Ours['options'], servers.Server>();
  const findings: Finding[] = [];
  for (const line of table.filter(([own]) => own === id)) {
    const finding = await servers.withScope(bench.folder, (scope) => {
      const start: Start = async (options) => {
        if (typeof options !== 'object') return servers.startSignalbox(scope, await options?.(scope));
        const server = shared.get(options) ?? (await servers.startSignalbox(bench.scope, options));
        shared.set(options, server);
        return server;
      };
      return measureLine({ ...bench, scope }, line, start);
    });
    findings.push(finding);
  }
  return findings;
};

const measureLine = async (bench: Bench, [, work, goal, ours, beside]: HttpLine, start: Start): Promise<Finding> => {
  const { url, pid } = await start(ours.options);
  for (const request of ours.before ?? []) await ask({ ...request, url: `${url}${request.url}` });
  const token = ours.hasToken && { headers: { ...ours.headers, authorization: `Bearer ${await logIn(url)}` } };
  const request = { ...ours, ...token, url: `${url}${ours.url}` };
  const answer = await ask(request);
  const program = beside.program?.(answer, bench.scope);
  const alone = beside.options ? await start(beside.options) : { url, pid };
  const other = program ? await servers.startServer(bench.scope, program) : alone;
  const otherRequest = { ...beside, url: `${other.url}${beside.url}` };
  const [same, theirs] = [answer, await ask(otherRequest)].map((text) => ours.toSame?.(text));
  if (same !== theirs) throw new Error(`the responses differ: ${same} and ${theirs}`);
  const own = { ...bench, seconds: Math.max(bench.seconds, ours.minSeconds ?? 0) };
  const side = await createSide(own, [pid], request, ours.weigh);
  const rates = await compareRates(own, side, await createSide(own, [other.pid], otherRequest, ours.weigh));
  return { work, goal, name: beside.name, ...rates };
};

export const httpRows: readonly Row[] = [...new Set(table.map(([id]) => id))].map((id) => [
  id,
  (bench) => measure(bench, id),
]);
