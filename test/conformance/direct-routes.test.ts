import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { createFolder } from '../support/folder.ts';
import { startProgram } from '../support/program.ts';

interface Case {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

interface Seen {
  status: number | undefined;
  headers: Record<string, unknown>;
  text: string;
}

const host = { host: '127.0.0.1:8080' };

/** Without what belongs to the connection, and times and ids that no two servers share. */
const toComparable = ({ status, headers, text }: Seen): Seen => {
  const { date: _, connection: __, 'keep-alive': ___, 'transfer-encoding': ____, ...rest } = headers;
  const body = text.replace(/"(CreatedAt|id|requestId)":"[^"]*"/g, '"$1":""');
  return { status, headers: rest, text: body };
};

/** A server of its own, that is sent one case after the other. */
const start = async (t: TestContext, flags: string[]) => {
  const { url } = await startProgram(t, flags, { cwd: createFolder(t) });
  const { port } = new URL(url);
  return async ({ method = 'GET', path, headers, body }: Case): Promise<Seen> => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const sent = request({ port, method, path, agent: false, headers: { ...host, ...length, ...headers } });
    sent.end(body);
    const [response] = await once(sent, 'response');
    const pieces: Buffer[] = [];
    for await (const piece of response) pieces.push(piece);
    return { status: response.statusCode, headers: response.headers, text: Buffer.concat(pieces).toString() };
  };
};

const post = (path: string, body: string | Buffer, headers = {}): Case => ({
  method: 'POST',
  path,
  body,
  headers,
});

const bodies = [
  '{"Title":"plain"}',
  '{"Title":"é ü 😀","Description":"\\"quoted\\"","Priority":"High","Status":"Completed","Id":9}',
  '{"Title":null}',
  '{"Title":""}',
  '{"Title":5,"Priority":"x"}',
  '{"Title":"x","__proto__":{}}',
  '\ufeff{"Title":"with a mark"}',
  '[]',
  '{',
  '',
  Buffer.from([0x7b, 0xff, 0x7d]),
  JSON.stringify({ Title: 'x'.repeat(200), Description: 'y'.repeat(70_000) }),
  JSON.stringify({ Title: 'x', Description: 'y'.repeat(1_100_000) }),
];
const queries = [
  ...['', '?', '?limit=1', '?limit=', '?limit=0', '?limit=x', '?limit=1&limit=2', '?limit=%31', '?a=b'],
  ...['?status=Pending&priority=High', '?status=none', '?status=In+Progress', '?limit=1#x', '?&&=', '?limit'],
];
const ids = ['1', '2', '0', '01', 'x', '99', '%31', '1/', '1/2', '1.5', '-1', 'a%zz', '..', '1?limit=x', "'"];
const guards = [
  { host: 'evil.example' },
  { origin: 'http://evil.example' },
  { 'sec-fetch-site': 'cross-site' },
  { expect: 'something' },
  { 'content-type': 'text/plain' },
];

const cases: Case[] = [
  ...bodies.map((body) => post('/api/tasks', body)),
  ...queries.map((query) => ({ path: `/api/tasks${query}` })),
  ...ids.map((id) => ({ path: `/api/tasks/${id}` })),
  ...guards.flatMap((headers) => [
    { path: '/api/tasks/1', headers },
    post('/api/tasks', '{"Title":"g"}', headers),
  ]),
  ...['HEAD', 'OPTIONS', 'PATCH', 'DELETE'].map((method) => ({ method, path: '/api/tasks' })),
  ...['/api/tasks/', '//api/tasks', '/API/tasks', '/protected/api/tasks/1', '/protected/api/tasks'].map(
    (path) => ({
      path,
    }),
  ),
  ...['{"message":"m","level":"é"}', '{}', '{"message":5}', '{"message":""}', 'x', ''].map((body) =>
    post('/api/alert', body),
  ),
];

test('the short way gives the answers, headers and errors that Fastify gives', async (t) => {
  const sendShort = await start(t, []);
  // A server that logs each request lets Fastify answer them all.
  const sendLong = await start(t, ['--log-level', 'debug']);
  for (const each of cases) {
    const [short, long] = [toComparable(await sendShort(each)), toComparable(await sendLong(each))];
    assert.deepEqual(short, long, `${each.method ?? 'GET'} ${each.path} ${String(each.body).slice(0, 60)}`);
  }
});
