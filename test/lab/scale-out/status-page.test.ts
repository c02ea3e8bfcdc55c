import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { onePage } from '../../status-pages/support/pages.ts';
import { toSkipPostgres } from '../../support/postgres/installation.ts';
import { startPostgres } from '../../support/postgres/server.ts';
import { waitUntilPasses } from '../../support/wait.ts';
import { requires } from '../faults/support/requirements.ts';
import { startInstances } from './support/instances.ts';

const connections = 16;
const seconds = 15;

/** Minimum requests per second on a busy machine. An idle machine answers more than 2,000. */
const minRate = 200;

const skip = toSkipPostgres() || requires({ programs: ['wrk', 'haproxy'] }).skip;

test('a status page under load is answered while an instance is killed, and shows what happened meanwhile', {
  skip,
}, async (t) => {
  const { url } = await startPostgres(t);
  const uuid = randomUUID();
  const settings = {
    statusPages: [{ name: 'main', ...onePage }],
    heartbeats: [{ name: 'job', uuid, period: 3600 }],
  };
  const { all, urls } = await startInstances(t, { store: url(), settings });
  const [killed, other] = all;
  const [balancer = ''] = urls;
  assert.ok(other);
  const waitForPage = (base: string, state: string) =>
    waitUntilPasses(async () => {
      const page = await fetch(`${base}/status/main`);
      assert.equal(page.status, 200);
      assert.match(await page.text(), new RegExp(`<b>Shop</b><span class="s \\w+">${state}</span>`));
    }, 30_000);
  const ping = async (path: string) => assert.equal((await fetch(`${other.url}/ping/${uuid}${path}`)).status, 200);
  await ping('');
  for (const base of [killed.url, other.url]) await waitForPage(base, 'Up');
  const load = runLoad(`${balancer}/status/main`);
  await killed.stop('SIGKILL');
  await ping('/fail');
  await waitForPage(balancer, 'Down');
  await killed.start();
  await waitForPage(killed.url, 'Down');
  const { rate, broken } = await load;
  t.diagnostic(`${rate} requests per second, ${broken} without a page`);
  assert.ok(rate >= minRate, `${rate} requests per second`);
  // HAProxy repeats no request that the killed instance has received.
  assert.ok(broken <= connections, `${broken} requests have no page`);
  for (const base of [killed.url, other.url]) await waitForPage(base, 'Down');
  await ping('');
  for (const base of [killed.url, other.url]) await waitForPage(base, 'Up');
});

/** Sends requests with wrk. Resolves to the rate, and to the number of failed requests. */
const runLoad = async (url: string): Promise<{ rate: number; broken: number }> => {
  const args = ['-t', '1', '-c', `${connections}`, '-d', `${seconds}s`, '--timeout', '10s', url];
  const { stdout } = await promisify(execFile)('wrk', args);
  const [, rate] = /^Requests\/sec: +([\d.]+)$/m.exec(stdout) ?? assert.fail(stdout);
  const [, refused = '0'] = /^ *Non-2xx or 3xx responses: (\d+)$/m.exec(stdout) ?? [];
  const failed =
    /^ *Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)$/m.exec(stdout)?.slice(1) ?? [];
  return { rate: Number(rate), broken: [refused, ...failed].reduce((sum, count) => sum + Number(count), 0) };
};
