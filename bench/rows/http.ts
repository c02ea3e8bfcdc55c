import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask, createPost, logIn } from '../support/ask.ts';
import { requireSyncedFolder } from '../support/disk.ts';
import type { LoadRequest } from '../support/load.ts';
import * as opponents from '../support/opponents.ts';
import { NotMeasurable } from '../support/programs.ts';
import { compareRates } from '../support/rounds.ts';
import { type SignalboxOptions, startSignalbox } from '../support/signalbox.ts';
import { createSeedTask, newTask } from '../support/tasks.ts';
import type { Bench, Row } from './row.ts';

type ToRequest = (url: string) => LoadRequest | Promise<LoadRequest>;

/** A request to signalbox. */
interface Ours {
  request: ToRequest;
  options?: SignalboxOptions | ((bench: Bench) => Promise<SignalboxOptions>);
  /** Done before anything is measured. */
  prepare?(url: string): Promise<unknown>;
  /** Returns what must be the same in both responses. */
  toSame?(answer: string): unknown;
  /** How much work a response is, if responses differ. */
  weigh?(answer: string): number;
}

/** What it is compared with: a request to another program, started for our response, or to signalbox itself. */
interface Beside {
  name: string;
  request: ToRequest;
  start?(answer: string): opponents.Start;
}

interface HttpRow {
  id: string;
  work: string;
  atLeast: number | undefined;
  ours: Ours;
  beside: Beside;
}

const row = (id: string, work: string, atLeast: number | undefined, ours: Ours, beside: Beside): HttpRow => {
  return { id, work, atLeast, ours, beside };
};

const get = (path: string, options: Partial<LoadRequest> = {}): ToRequest => {
  return (url) => ({ url: `${url}${path}`, ...options });
};
const post = (path: string, value: unknown) => (url: string) => createPost(`${url}${path}`, value);
const withToken = async (url: string, request: LoadRequest): Promise<LoadRequest> => {
  return { ...request, headers: { ...request.headers, authorization: `Bearer ${await logIn(url)}` } };
};
const addTask = (url: string) => ask(createPost(`${url}/api/tasks`, newTask));
const sameBytes = (kind: 'text' | 'buffer' = 'text'): Beside => {
  return {
    name: `node:http, same bytes, ${kind}`,
    request: get('/'),
    start: (answer) => opponents.createBare(answer, kind),
  };
};
const itself = (name: string, options: SignalboxOptions, request: ToRequest): Beside => {
  return { name, request, start: () => (scope, cores) => startSignalbox(scope, cores, options) };
};

const million = 1_000_000;
const lists = {
  '': 'all match',
  '?status=Pending': 'every second matches',
  '?priority=Critical': 'fifty match, spread over all',
  '?status=Cancelled': 'the last ten match',
  '?status=Cancelled&priority=High': 'some of the last ten match',
  '?status=Completed': 'none matches',
};

const tasks: HttpRow[] = [
  row('B1', 'GET /api/tasks/{id}', 0.95, { prepare: addTask, request: get('/api/tasks/1') }, sameBytes()),
  row(
    'B2',
    'GET /api/tasks?status=Pending, 50 of 1,000,000',
    0.8,
    { options: { tasks: million }, request: get('/api/tasks?status=Pending') },
    sameBytes('buffer'),
  ),
  ...Object.entries(lists).map(([query, matches]) => {
    const request = get(`/api/tasks${query}`);
    const ours: Ours = { options: { tasks: million }, request, toSame: (answer) => JSON.parse(answer).count };
    const work = `GET /api/tasks${query} at 1,000,000: ${matches}`;
    return row('B3', work, 0.95, ours, itself('itself at 1,000', { tasks: 1000 }, request));
  }),
  row(
    'B4',
    'POST /api/tasks',
    0.85,
    { request: post('/api/tasks', newTask) },
    {
      name: 'node:http, body parsed, constant response',
      request: post('/', newTask),
      start: (answer) => opponents.createBare(answer, 'parse'),
    },
  ),
];

const alert = { source: 'backup', level: 'ERROR', message: 'the disk is full', hostname: 'web-1' };
const labels = { alertname: 'backup', severity: 'ERROR', instance: 'web-1' };
const annotations = { summary: 'the disk is full' };
const createNew = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ labels: { ...labels, job: `${index}.[<id>]` }, annotations }));

/** Alertmanager keeps alerts in memory. Labels that it already knows are cheapest for it. */
const alertmanager = (value: unknown): Beside => {
  const name = 'Alertmanager, POST /api/v2/alerts, in memory';
  return { name, request: post('/api/v2/alerts', value), start: () => opponents.startAlertmanager };
};

/** A destination on this machine that gets every alert. */
const withDestination = async ({ scope, cores }: Bench): Promise<SignalboxOptions> => {
  const { url } = await opponents.startSink(scope, cores);
  const config = join(scope.folder, 'config.json');
  writeFileSync(config, JSON.stringify({ destinations: [{ name: 'sink', type: 'webhook', url }] }), { mode: 0o600 });
  return { flags: ['--config', config] };
};

const createAlert: Ours = { request: post('/api/alert', alert) };
const stored = 'answered after fdatasync';
const durable: HttpRow[] = [
  row('B5', `POST /api/alert, ${stored}`, 1.5, createAlert, alertmanager([{ labels, annotations }])),
  row(
    'B5',
    `POST /api/alert with a destination, ${stored}`,
    1.3,
    { ...createAlert, options: withDestination },
    alertmanager([{ labels, annotations }]),
  ),
  ...[1, 10].map((count) => {
    const work = `POST /api/v2/alerts, ${count} new in each request, ${stored}`;
    const ours = { request: post('/api/v2/alerts', createNew(count)) };
    return row('B5b', work, count === 1 ? 0.8 : undefined, ours, alertmanager(createNew(count)));
  }),
  row(
    'B27',
    `POST /api/tasks, --store file, ${stored} (also B21)`,
    0.8,
    { options: { flags: ['--store', 'file'] }, request: post('/api/tasks', newTask) },
    itself('itself with --store memory', {}, post('/api/tasks', newTask)),
  ),
];

/** Glances handles one request at a time and refuses connections when many are waiting. */
const few = { connections: 8 };

/** Fields of all rows: signalbox has four in each, Glances some twenty, which it cannot leave out. */
const countFields = (answer: string): number => {
  const parsed = JSON.parse(answer);
  const rows: object[] = Array.isArray(parsed) ? parsed : parsed.data;
  return rows.reduce((sum, each) => sum + Object.keys(each).length, 0);
};
const journal = ['journalctl', '--output=json', '--reverse', '--no-pager', '--lines=10', '_TRANSPORT=syslog'];
const requireJournal = async (): Promise<void> => {
  if (['/run/log/journal', '/var/log/journal'].some(existsSync)) return;
  throw new NotMeasurable('Get-EventLog and journalctl need a journal, which systemd writes');
};
const readJournal = { command: 'Get-EventLog -LogName Application -Newest 10' };

const seeded = Array.from({ length: 1000 }, (_, place) => ({ id: String(place + 1), ...createSeedTask(place, 1000) }));
const toIds = (answer: string): unknown =>
  JSON.parse(answer)
    .data?.map(({ Id, id }: { Id?: number; id?: string }) => id ?? String(Id))
    .join();
const jsonServer = (request: ToRequest, kept: object[] = seeded): Beside => {
  return { name: 'json-server', request, start: () => opponents.createJsonServer(kept) };
};

const programs: HttpRow[] = [
  row(
    'B7',
    'fields of GET /api/processes?top=100000, at most 0.5 s old',
    5,
    { request: get('/api/processes?top=100000', few), weigh: countFields },
    {
      name: 'fields of Glances, /api/3/processlist, at most 1 s old',
      request: get('/api/3/processlist', few),
      start: () => opponents.startGlances,
    },
  ),
  row(
    'B8',
    'POST /api/execute, Get-EventLog: both run journalctl for each request',
    1,
    {
      prepare: requireJournal,
      request: (url) => withToken(url, { ...createPost(`${url}/api/execute`, readJournal), ...few }),
    },
    {
      name: 'webhook running journalctl',
      request: get('/hooks/run', few),
      start: () => opponents.createWebhook(journal),
    },
  ),
  row(
    'B9',
    'GET /api/tasks/{id}',
    5,
    { options: { tasks: 1000 }, request: get('/api/tasks/500') },
    jsonServer(get('/tasks/500')),
  ),
  row(
    'B9',
    'GET /api/tasks?status=Pending, 50 of 1,000',
    10,
    { options: { tasks: 1000 }, request: get('/api/tasks?status=Pending'), toSame: toIds },
    jsonServer(get('/tasks?Status=Pending&_page=1&_per_page=50')),
  ),
  row('B9', 'POST /api/tasks', 20, { request: post('/api/tasks', newTask) }, jsonServer(post('/tasks', newTask), [])),
];

const addAlerts = async (url: string): Promise<void> => {
  for (let place = 0; place < 10; place += 1) await ask(createPost(`${url}/api/alert`, alert));
};
const refuse = (path: string, status: number): HttpRow => {
  const ours = { request: get(path, { isRefused: true }) };
  return row('B26', `GET ${path}: ${status}`, 1, ours, { name: 'GET /api/tasks, empty', request: get('/api/tasks') });
};

const costs: HttpRow[] = [
  row(
    'B24',
    'GET /protected/api/tasks with a token',
    0.7,
    { prepare: addTask, request: (url) => withToken(url, { url: `${url}/protected/api/tasks` }) },
    { name: 'GET /api/tasks without', request: get('/api/tasks') },
  ),
  row(
    'B25',
    'GET /api/alerts?count=10',
    0.5,
    { prepare: addAlerts, request: get('/api/alerts?count=10') },
    sameBytes(),
  ),
  refuse('/protected/api/tasks', 401),
  refuse('/api/nothing/here', 404),
];

/** What a row of the table measures. */
const measure = async (bench: Bench, { id, work, atLeast, ours, beside }: HttpRow) => {
  const { scope, cores } = bench;
  await requireSyncedFolder(scope.folder);
  const { options, toSame } = ours;
  const server = await startSignalbox(scope, cores, typeof options === 'function' ? await options(bench) : options);
  await ours.prepare?.(server.url);
  const request = await ours.request(server.url);
  const text = await ask(request);
  const other = beside.start ? await beside.start(text)(scope, cores) : server;
  const otherRequest = await beside.request(other.url);
  const [one, two] = [text, await ask(otherRequest)].map((answer) => toSame?.(answer));
  if (one !== two) throw new Error(`the responses differ: ${one} and ${two}`);
  const sides = [
    { pids: [server.pid], request, weigh: ours.weigh },
    { pids: [other.pid], request: otherRequest, weigh: ours.weigh },
  ] as const;
  const { figures, ...measured } = await compareRates(bench, ...sides);
  const goals = atLeast === undefined ? [] : [{ of: 'ratio' as const, atLeast }];
  return [{ id, work, unit: '/s', ...measured, beside: { name: beside.name, figures }, goals }];
};

export const httpRows: readonly Row[] = [...tasks, ...durable, ...programs, ...costs].map((each) => ({
  ids: each.id === 'B27' ? ['B21', 'B27'] : [each.id],
  measure: (bench) => measure(bench, each),
}));
