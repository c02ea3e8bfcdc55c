import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { alert } from '../support/alert-log.ts';
import type { Finding } from '../support/finding.ts';
import * as opponents from '../support/opponents.ts';
import { ask, createPost, type LoadRequest, logIn } from '../support/requests.ts';
import { compareRates, createSide } from '../support/rounds.ts';
import type { Bench, Row } from '../support/run.ts';
import {
  type Scope,
  type Server,
  type ServerOptions,
  type SignalboxOptions,
  startServer,
  startSignalbox,
  withScope,
} from '../support/server.ts';
import { createSeedTask, newTask } from '../support/tasks.ts';

interface Party {
  /** The request to the server at an address. */
  request(url: string): LoadRequest | Promise<LoadRequest>;
}

/** A request to signalbox. */
interface Ours extends Party {
  options?: SignalboxOptions | ((scope: Scope) => SignalboxOptions | Promise<SignalboxOptions>);
  /** Done before anything is measured. */
  prepare?(url: string): Promise<unknown>;
  /** Returns what must be the same in both responses. */
  toSame?(answer: string): unknown;
  /** How much work a response is, if responses differ. */
  weigh?(answer: string): number;
}

/** What it is compared with: a request to another program, started for our response, or to signalbox: the same server without options. */
interface Beside extends Party {
  name: string;
  options?: SignalboxOptions;
  start?(scope: Scope, answer: string): Promise<Server>;
}

type HttpLine = [id: string, work: string, goal: string | undefined, ours: Ours, beside: Beside];

const get = (path: string, options: Partial<LoadRequest> = {}): Party => {
  return { request: (url) => ({ url: `${url}${path}`, ...options }) };
};
const post = (path: string, value: unknown): Party => ({ request: (url) => createPost(`${url}${path}`, value) });
const withToken = ({ request }: Party): Party => ({
  request: async (url) => {
    const { headers, ...rest } = await request(url);
    return { ...rest, headers: { ...headers, authorization: `Bearer ${await logIn(url)}` } };
  },
});

const program = (name: string, party: Party, create: (answer: string) => ServerOptions): Beside => {
  return { name, ...party, start: (scope, answer) => startServer(scope, create(answer)) };
};
const itself = (name: string, options: SignalboxOptions, party: Party): Beside => ({ name, ...party, options });
const sameBytes = (kind: 'text' | 'buffer' = 'text'): Beside =>
  program(`node:http, same bytes, ${kind}`, get('/'), (answer) => opponents.createBare(answer, kind));
const parsed = program('node:http, body parsed, constant response', post('/', newTask), (answer) =>
  opponents.createBare(answer, 'parse'),
);

const thousand = { options: { tasks: 1000 } };
const million = { options: { tasks: 1_000_000 } };
const pending = get('/api/tasks?status=Pending');
const create = post('/api/tasks', newTask);
const addTask = (url: string) => ask(createPost(`${url}/api/tasks`, newTask));
const lists = {
  '': 'all match',
  '?status=Pending': 'every second matches',
  '?priority=Critical': 'fifty match, spread over all',
  '?status=Cancelled': 'the last ten match',
  '?status=Cancelled&priority=High': 'some of the last ten match',
  '?status=Completed': 'none matches',
};
const toCount = (answer: string): unknown => JSON.parse(answer).count;

const tasks: HttpLine[] = [
  ['B1', 'GET /api/tasks/{id}', '≥ 0.95 ×', { ...get('/api/tasks/1'), prepare: addTask }, sameBytes()],
  ['B2', 'GET /api/tasks?status=Pending, 50 of 1,000,000', '≥ 0.8 ×', { ...pending, ...million }, sameBytes('buffer')],
  ...Object.entries(lists).map(([query, matches]): HttpLine => {
    const list = get(`/api/tasks${query}`);
    const work = `GET /api/tasks${query} at 1,000,000: ${matches}`;
    const small = itself('itself at 1,000', thousand.options, list);
    return ['B3', work, '≥ 0.95 ×', { ...list, ...million, toSame: toCount }, small];
  }),
  ['B4', 'POST /api/tasks', '≥ 0.85 ×', create, parsed],
];

const labels = { alertname: 'backup', severity: 'ERROR', instance: 'web-1' };
const annotations = { summary: 'the disk is full' };
const createNew = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ labels: { ...labels, job: `${index}.[<id>]` }, annotations }));

/** Alertmanager keeps alerts in memory. Labels that it already knows are cheapest for it. */
const alertmanager = (value: unknown): Beside =>
  program('Alertmanager, POST /api/v2/alerts, in memory', post('/api/v2/alerts', value), () => opponents.alertmanager);

/** Settings of a server whose alerts go to a receiver on this machine. */
const createDestination = async (scope: Scope): Promise<SignalboxOptions> => {
  const { url } = await startServer(scope, opponents.sink);
  return { config: { destinations: [{ name: 'sink', type: 'webhook', url }] } };
};

const createAlert = post('/api/alert', alert);
const [known, one, ten] = [[{ labels, annotations }], createNew(1), createNew(10)];
const withDestination: Ours = { ...createAlert, options: createDestination };
const withFile: Ours = { ...create, options: { flags: ['--store', 'file'] } };
const inMemory = itself('itself with --store memory', {}, create);
const stored = 'answered after fdatasync';

const durable: HttpLine[] = [
  ['B5', `POST /api/alert, ${stored}`, '≥ 1.5 ×', createAlert, alertmanager(known)],
  ['B5', `POST /api/alert with a destination, ${stored}`, '≥ 1.3 ×', withDestination, alertmanager(known)],
  ['B5b', `POST /api/v2/alerts, a new one, ${stored}`, '≥ 0.8 ×', post('/api/v2/alerts', one), alertmanager(one)],
  ['B5b', `POST /api/v2/alerts, ten new ones, ${stored}`, undefined, post('/api/v2/alerts', ten), alertmanager(ten)],
  ['B21, B27', `POST /api/tasks, --store file, ${stored}`, '≥ 0.8 ×', withFile, inMemory],
];

/** Glances handles one request at a time and refuses connections when many are waiting. */
const few = { connections: 8 };

/** Fields of all rows: signalbox has four in each, Glances some twenty, which it cannot leave out. */
const countFields = (answer: string): number => {
  const value = JSON.parse(answer);
  const rows: object[] = Array.isArray(value) ? value : value.data;
  return rows.reduce((sum, each) => sum + Object.keys(each).length, 0);
};
const processes: Ours = { ...get('/api/processes?top=100000', few), weigh: countFields };
const glances = program(
  'fields of Glances, /api/3/processlist, at most 1 s old',
  get('/api/3/processlist', few),
  () => opponents.glances,
);

/** Stands in for PowerShell: reads the command as the server sends it, and prints a row for each process that `ps` lists. */
const script = String.raw`#!/bin/sh
read -r command
echo '{"command":"Get-Process"}'
ps -e -o pid=,comm= | awk '{printf "{\"row\":{\"Id\":%d,\"ProcessName\":\"%s\"}}\n", $1, $2}'
echo '{"end":true}'
`;
const writeScript = (scope: Scope): string => {
  const path = join(scope.folder, 'processes');
  writeFileSync(path, script, { mode: 0o700 });
  return path;
};
const execute: Ours = {
  options: (scope) => ({ config: { commandRunner: 'powershell', powershellPath: writeScript(scope) } }),
  ...withToken({ request: (url) => ({ ...createPost(`${url}/api/execute`, { command: 'Get-Process' }), ...few }) }),
};
const webhook: Beside = {
  name: 'webhook running that script',
  ...get('/hooks/run', few),
  start: (scope) => startServer(scope, opponents.createWebhook(writeScript(scope))),
};

const seeded = Array.from({ length: 1000 }, (_, place) => ({ id: String(place + 1), ...createSeedTask(place, 1000) }));
const jsonServer = (party: Party, kept: object[] = seeded): Beside =>
  program('json-server', party, () => opponents.createJsonServer(kept));
const toIds = (answer: string): unknown =>
  JSON.parse(answer)
    .data?.map(({ Id, id }: { Id?: number; id?: string }) => id ?? String(Id))
    .join();
const pendingIds: Ours = { ...pending, ...thousand, toSame: toIds };
const pendingPage = get('/tasks?Status=Pending&_page=1&_per_page=50');

const programs: HttpLine[] = [
  ['B7', 'fields of GET /api/processes?top=100000, at most 0.5 s old', '≥ 5 ×', processes, glances],
  ['B8', 'POST /api/execute Get-Process: both run a script with ps for each request', '≥ 1 ×', execute, webhook],
  ['B9', 'GET /api/tasks/{id}', '≥ 5 ×', { ...get('/api/tasks/500'), ...thousand }, jsonServer(get('/tasks/500'))],
  ['B9', 'GET /api/tasks?status=Pending, 50 of 1,000', '≥ 10 ×', pendingIds, jsonServer(pendingPage)],
  ['B9', 'POST /api/tasks', '≥ 20 ×', create, jsonServer(post('/tasks', newTask), [])],
];

const addAlerts = async (url: string): Promise<void> => {
  for (let place = 0; place < 10; place += 1) await ask(createPost(`${url}/api/alert`, alert));
};
const guarded: Ours = { ...withToken(get('/protected/api/tasks')), prepare: addTask };
const alerts: Ours = { ...get('/api/alerts?count=10'), prepare: addAlerts };
const refused = (path: string): Ours => get(path, { isRefused: true });
const empty = { name: 'GET /api/tasks, empty', ...get('/api/tasks') };

const costs: HttpLine[] = [
  ['B24', 'GET /protected/api/tasks with a token', '≥ 0.7 ×', guarded, { ...empty, name: 'GET /api/tasks without' }],
  ['B25', 'GET /api/alerts?count=10', '≥ 0.5 ×', alerts, sameBytes()],
  ['B26', 'GET /protected/api/tasks: 401', '≥ 1 ×', refused('/protected/api/tasks'), empty],
  ['B26', 'GET /api/nothing/here: 404', '≥ 1 ×', refused('/api/nothing/here'), empty],
];

/** The lines of a row, one after the other; those with the same object of options share a server. */
const measure = async (bench: Bench, lines: readonly HttpLine[]): Promise<Finding[]> => {
  const shared = new Map<Ours['options'], Server>();
  const findings: Finding[] = [];
  for (const line of lines) {
    const finding = await withScope(bench.folder, (scope) => {
      const start = async (options: Ours['options']): Promise<Server> => {
        if (typeof options !== 'object') return startSignalbox(scope, await options?.(scope));
        const server = shared.get(options) ?? (await startSignalbox(bench.scope, options));
        shared.set(options, server);
        return server;
      };
      return measureLine({ ...bench, scope }, line, start);
    });
    findings.push(finding);
  }
  return findings;
};

const measureLine = async (
  bench: Bench,
  [, work, goal, ours, beside]: HttpLine,
  start: (options: Ours['options']) => Promise<Server>,
): Promise<Finding> => {
  const server = await start(ours.options);
  await ours.prepare?.(server.url);
  const request = await ours.request(server.url);
  const answer = await ask(request);
  const other = (await beside.start?.(bench.scope, answer)) ?? (beside.options ? await start(beside.options) : server);
  const otherRequest = await beside.request(other.url);
  const [same, theirs] = [answer, await ask(otherRequest)].map((text) => ours.toSame?.(text));
  if (same !== theirs) throw new Error(`the responses differ: ${same} and ${theirs}`);
  const side = await createSide(bench, [server.pid], request, ours.weigh);
  const rates = await compareRates(bench, side, await createSide(bench, [other.pid], otherRequest, ours.weigh));
  return { work, goal, name: beside.name, ...rates };
};

const table = [...tasks, ...durable, ...programs, ...costs];

/** The rows that compare two requests: one table. */
export const httpRows: readonly Row[] = [...new Set(table.map(([id]) => id))].map((id) => {
  const lines = table.filter(([own]) => own === id);
  return [id, (bench) => measure(bench, lines)];
});
