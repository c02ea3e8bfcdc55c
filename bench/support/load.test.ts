import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createFolder } from '../../test/support/folder.ts';
import { createAutocannonArgs, parseAutocannonOutput } from './autocannon.ts';
import { createLoad } from './load.ts';
import { findProgram } from './programs.ts';
import { parseWrkOutput } from './wrk.ts';

const body = '{"text":"a \\"quote\\" and\\na line"}';

/** Starts a server for the test and returns its address. */
const listen = async (t: TestContext, handle: RequestListener): Promise<string> => {
  const server = createServer(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/path`;
};

test('the output of wrk is read from the line that its script prints', () => {
  const line = 'figures {"requests":3000,"duration":1500000,"p99":2500,"failed":0}';
  const output = `Running 1s test\n${line}\nRequests/sec: 1\n`;
  assert.deepEqual(parseWrkOutput(output), { answers: 3000, perSecond: 2000, p99Ms: 2.5 });
});

test('a failed request, no request or missing output of wrk is an error', () => {
  const line = 'figures {"requests":3000,"duration":1500000,"p99":2500,"failed":2}';
  assert.throws(() => parseWrkOutput(line), /2 of 3000 requests failed/);
  assert.throws(() => parseWrkOutput(line.replace('3000', '0').replace('2}', '0}')), /no response in time/);
  assert.throws(() => parseWrkOutput('unable to connect'), /unable to connect/);
});

test('the output of autocannon is read from its JSON, and a failed or missing request is an error', () => {
  const result = { duration: 2, requests: { total: 100 }, latency: { p99: 3 }, errors: 0, non2xx: 0 };
  const figures = { answers: 100, perSecond: 50, p99Ms: 3 };
  assert.deepEqual(parseAutocannonOutput(JSON.stringify(result)), figures);
  assert.throws(() => parseAutocannonOutput(JSON.stringify({ ...result, non2xx: 5 })), /5 of 100/);
  assert.throws(
    () => parseAutocannonOutput(JSON.stringify({ ...result, requests: { total: 0 } })),
    /no response in time/,
  );
  assert.ok(createAutocannonArgs({ url: 'http://x', seconds: 2 }).includes('64'));
});

test('a load sends the method, headers and body it is given, and rejects if a response is an error', {
  skip: findProgram('wrk') === undefined && 'wrk is not installed',
}, async (t) => {
  const seen = new Set<string>();
  const url = await listen(t, (request, response) => {
    let text = '';
    request.on('data', (piece) => {
      text += piece;
    });
    request.on('end', () => {
      seen.add(`${request.method} ${request.url} ${request.headers['x-name']} ${text}`);
      response.writeHead(request.url === '/path' ? 201 : 404).end();
    });
  });
  const load = createLoad(createFolder(t), undefined);
  const request = { url, method: 'POST', headers: { 'x-name': 'value' }, body, seconds: 1 } as const;
  assert.ok((await load.run(request)).answers > 0);
  assert.deepEqual([...seen], [`POST /path value ${body}`]);
  await assert.rejects(load.run({ ...request, url: `${url}/other` }), /requests failed/);
});

test('a load with an amount sends about that many requests', async (t) => {
  let requests = 0;
  const url = await listen(t, (request, response) => {
    requests += 1;
    request.resume().on('end', () => response.end());
  });
  await createLoad(createFolder(t), undefined).send({ url, method: 'POST', body }, 800);
  assert.ok(requests > 700 && requests <= 800, String(requests));
});
