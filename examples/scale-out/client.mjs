import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';

/**
 * Creates, changes and reads tasks for some seconds, and compares the tasks it reads with its own history: `node
 * client.mjs http://127.0.0.1:8400 30`.
 */
const [base = 'http://127.0.0.1:8400', seconds = '30'] = process.argv.slice(2);
const clients = 24;
/** Milliseconds after which the client gives up. */
const mostMs = 60_000;
const agent = new Agent({ keepAlive: true });

/** Tasks. Each task is changed by one client, which sets its description to 1, 2, 3 …, and read by all clients. */
const tasks = [];
const counts = { create: 0, update: 0, read: 0 };
const byInstance = {};
const faults = { lost: [], duplicated: [], reordered: [] };
const slowest = { ms: 0 };
const began = performance.now();
const end = began + Number(seconds) * 1000;
let retries = 0;

const send = (method, path, body, headers = {}) =>
  new Promise((resolve, reject) => {
    const text = body === undefined ? '' : JSON.stringify(body);
    const length = { 'content-length': Buffer.byteLength(text) };
    const sent = request(`${base}${path}`, { method, agent, headers: { ...headers, ...length } }, (response) => {
      let received = '';
      response.setEncoding('utf8').on('data', (piece) => {
        received += piece;
      });
      response.on('error', reject);
      response.on('close', () => {
        if (!response.complete) return reject(new Error('cut off'));
        const { statusCode: status, headers } = response;
        resolve({ status, instance: headers['x-signalbox-instance'], text: received });
      });
    });
    sent.setTimeout(15_000, () => sent.destroy(new Error('no answer within 15 s')));
    sent.on('error', reject);
    sent.end(text);
  });

/** Sends a request until a response shows the outcome. With a fixed key, a task is created only once. */
const insist = async (method, path, body, headers) => {
  const start = performance.now();
  for (;;) {
    const answer = await send(method, path, body, headers).catch(() => undefined);
    if (answer && ![409, 502, 503, 504].includes(answer.status)) {
      const ms = performance.now() - start;
      if (ms > slowest.ms) Object.assign(slowest, { ms, method, path, at: (start - began) / 1000 });
      byInstance[answer.instance] = (byInstance[answer.instance] ?? 0) + 1;
      return { ...answer, json: answer.text.startsWith('{') ? JSON.parse(answer.text) : {} };
    }
    retries += 1;
    if (performance.now() - start > mostMs) throw new Error(`${method} ${path}: no answer for a minute`);
    await setTimeout(50);
  }
};

const say = (text) => process.stdout.write(`${text}\n`);

const pick = (list) => list[Math.floor(Math.random() * list.length)];

const create = async (own) => {
  const title = randomUUID();
  const { status, json } = await insist(
    'POST',
    '/api/tasks',
    { Title: title, Description: '0' },
    {
      'idempotency-key': title,
    },
  );
  if (status !== 201 && status !== 200) throw new Error(`POST answered ${status}`);
  const task = { id: json.Id, title, sent: 0, known: 0 };
  own.push(task);
  tasks.push(task);
  counts.create += 1;
};

const update = async (task) => {
  task.sent += 1;
  const { status } = await insist('PUT', `/api/tasks/${task.id}`, { Description: String(task.sent) });
  if (status === 404) faults.lost.push(task.id);
  else if (status !== 200) throw new Error(`PUT answered ${status}`);
  task.known = task.sent;
  counts.update += 1;
};

/**
 * Reads a task. The read must find at least every change that was acknowledged, or that any client had read, before the
 * read began.
 */
const read = async (task) => {
  const least = task.known;
  const { status, json } = await insist('GET', `/api/tasks/${task.id}`);
  if (status === 404) faults.lost.push(task.id);
  else check(task, json, least);
  counts.read += 1;
};

const check = (task, { Title, Description }, least) => {
  const value = Number(Description);
  if (Title !== task.title || value < least || value > task.sent) {
    faults.reordered.push(`task ${task.id}: ${value}, not ${least} to ${task.sent}`);
  }
  task.known = Math.max(task.known, value);
};

const work = async () => {
  const own = [];
  while (performance.now() < end) {
    const dice = Math.random();
    if (own.length === 0 || dice < 0.2) await create(own);
    else if (dice < 0.6) await update(pick(own));
    else await read(pick(tasks));
  }
};

await Promise.all(Array.from({ length: clients }, work));

const { json: list } = await insist('GET', '/api/tasks?limit=10000000');
const all = list.data ?? list.tasks;
const found = Map.groupBy?.(all, ({ Title }) => Title) ?? new Map(all.map((task) => [task.Title, [task]]));
const ids = new Set(all.map(({ Id }) => Id));
if (ids.size < all.length) faults.duplicated.push('ids');
for (const task of tasks) {
  const rows = found.get(task.title) ?? [];
  if (rows.length === 0) faults.lost.push(task.id);
  if (rows.length > 1) faults.duplicated.push(task.id);
  if (rows[0]) check(task, rows[0], task.known);
}
agent.destroy();

const total = counts.create + counts.update + counts.read;
say(`operations ${total}: created ${counts.create}, updated ${counts.update}, read ${counts.read}`);
say(`attempts that were repeated ${retries}; answered by ${JSON.stringify(byInstance)}`);
for (const [kind, each] of Object.entries(faults)) say([`${kind} ${each.length}`, ...each.slice(0, 5)].join(' '));
say(`slowest ${Math.round(slowest.ms)} ms: ${slowest.method} ${slowest.path}, begun at ${slowest.at?.toFixed(1)} s`);
process.exitCode = Object.values(faults).some(({ length }) => length > 0) ? 1 : 0;
