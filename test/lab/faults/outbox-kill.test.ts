import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { writeConfig } from '../../support/config-file.ts';
import { isLong, rounds } from '../../support/long.ts';
import { createRandom } from '../../support/random.ts';
import { waitUntil } from '../../support/wait.ts';
import { type BadReceiver, startBadReceiver } from './support/bad-receiver.ts';
import { startClients } from './support/clients.ts';
import { type Line, readLog } from './support/compare.ts';
import { createTemporaryFolder } from './support/ending.ts';
import { alerts, type Kept } from './support/kept.ts';
import { killServer } from './support/kill.ts';
import { startServer } from './support/server.ts';

const alertsPerRound = isLong ? 1000 : 200;
const clientCount = 4;
const longestLifeMs = 600;
/** Number of kills after the last alert has been stored, while the receiver still fails. */
const killsAfterwards = 3;

test('after kill -9 at any moment every stored alert is delivered, alerts of one fingerprint in order, and repeated deliveries are equal', async (t) => {
  const { next: random } = createRandom();
  const total = rounds(1, 50);
  const sums = { stored: 0, kills: 0, undelivered: 0, repeated: 0, different: 0, misplaced: 0 };
  const begun = performance.now();
  for (let round = 0; round < total; round += 1) {
    const concurrency = round % 2 === 0 ? 1 : 4;
    const { stored, receiver, kills } = await runRound(t, random, concurrency);
    const first = [...receiver.bodies.keys()];
    sums.stored += stored.length;
    sums.kills += kills;
    sums.undelivered += stored.filter(({ id }) => !receiver.bodies.has(id)).length;
    sums.repeated += [...receiver.bodies.values()].filter((bodies) => bodies.length > 1).length;
    sums.different += [...receiver.bodies.values()].filter((bodies) => new Set(bodies).size > 1).length;
    sums.misplaced += countMisplaced(first, stored);
  }
  const { stored, kills, undelivered, repeated, different, misplaced } = sums;
  t.diagnostic(
    `deliveries, kill -9: ${total} rounds, ${stored} acknowledged or stored, ${kills} kills, ${undelivered} undelivered, ` +
      `${repeated} delivered more than once, ${different} of them different, ${misplaced} out of order, ` +
      `${((performance.now() - begun) / 1000).toFixed(0)} s`,
  );
  assert.deepEqual({ undelivered, different, misplaced }, { undelivered: 0, different: 0, misplaced: 0 });
  if (total >= 10) assert.ok(repeated > 0, 'no delivery was interrupted');
});

/** Alerts that have the same fingerprint for each client. */
const keyed: Kept = {
  ...alerts,
  create: (message) => {
    const labels = { alertname: 'faults', severity: 'error' };
    const alert = { status: 'firing', labels, annotations: { summary: message }, fingerprint: fingerprintOf(message) };
    const startsAt = new Date(Date.UTC(2026, 0, 1) + Number.parseInt(hash(message), 16)).toISOString();
    const group = { receiver: 'x', groupLabels: {}, commonLabels: {}, commonAnnotations: {} };
    const body = { version: '4', status: 'firing', ...group, alerts: [{ ...alert, startsAt }] };
    return { path: '/api/alert/alertmanager', body };
  },
};

/** Returns the fingerprint of a message of the form RUN-CLIENT-NUMBER. */
const fingerprintOf = (message: string): string => `client ${message.split('-')[1]}`;

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8);

/** Counts alerts delivered before an older alert with the same fingerprint. */
const countMisplaced = (delivered: readonly string[], stored: readonly Line[]): number => {
  const known = new Map(stored.map((line) => [line.id, line]));
  const last = new Map<string, number>();
  let misplaced = 0;
  for (const id of delivered) {
    const { seq = 0, message = '' } = known.get(id) ?? {};
    const fingerprint = fingerprintOf(message);
    if (seq < (last.get(fingerprint) ?? 0)) misplaced += 1;
    last.set(fingerprint, seq);
  }
  return misplaced;
};

/** Sends alerts, kills the server repeatedly, and lets the last server deliver the rest. */
const runRound = async (t: TestContext, random: () => number, concurrency: number) => {
  const folder = createTemporaryFolder(t);
  const dataDir = join(folder, 'data');
  const receiver = await startBadReceiver(t, random);
  const destination = {
    name: 'bad',
    type: 'webhook',
    url: receiver.url,
    retrySeconds: Array(100).fill(0.02),
    concurrency,
  };
  const config = writeConfig(folder, { destinations: [destination] });
  const acknowledged = new Set<string>();
  let kills = 0;
  for (let life = 0, left = killsAfterwards; left > 0; life += 1) {
    const server = await start(dataDir, config);
    const missing = alertsPerRound - acknowledged.size;
    const limit = Math.ceil(Math.max(0, missing) / clientCount);
    const clients = startClients(server.url, { kept: keyed, tag: `${life}`, count: clientCount, limit });
    await setTimeout(random() * longestLifeMs);
    await killServer(server);
    await clients.stop();
    for (const { id } of clients.acknowledged.flat()) acknowledged.add(id);
    kills += 1;
    if (missing <= 0) left -= 1;
  }
  receiver.recover();
  const server = await start(dataDir, config);
  const stored = readLog(dataDir);
  assert.ok([...acknowledged].every((id) => stored.some((line) => line.id === id)));
  await waitUntil('every alert is delivered', () => stored.every(({ id }) => receiver.bodies.has(id))).catch(
    () => undefined,
  );
  await killServer(server);
  await receiver.close();
  return { stored, receiver, kills } satisfies { stored: Line[]; receiver: BadReceiver; kills: number };
};

const start = async (dataDir: string, config: string) => {
  const server = await startServer({ dataDir, flags: ['--config', config] });
  assert.ok(server, 'the server does not start');
  return server;
};
