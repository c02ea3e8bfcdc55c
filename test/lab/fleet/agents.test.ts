import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { ShownHost } from '../../../src/features/hosts/schema.ts';
import { startAgent } from '../../hosts/support/agent.ts';
import { hubVariables } from '../../hosts/support/hub.ts';
import { writeCertificate } from '../../support/certificate.ts';
import { createClient } from '../../support/client.ts';
import { passwords } from '../../support/credentials.ts';
import { createFolder } from '../../support/folder.ts';
import { amount } from '../../support/long.ts';
import { startProgram } from '../../support/program.ts';
import { createRandom } from '../../support/random.ts';
import { atEnd } from '../../support/scope.ts';
import { waitUntil } from '../../support/wait.ts';
import { causeFaults, type Fault, type FleetHost, faultKinds } from './support/faults.ts';
import { createNetwork, toSkipNetwork } from './support/network.ts';
import { assertExactlyOnce, type HubReader, startSenders } from './support/senders.ts';

const count = 10;

/** Milliseconds during which faults are caused. */
const faultsMs = amount(60, 300) * 1000;

/** Milliseconds without a report after which a host counts as silent, and maximum milliseconds until the alert. */
const silentMs = 20_000;
const foundMs = 5000;

/** Milliseconds between two reports of a host. */
const reportMs = 10_000;

/**
 * Faults that are too short for a host to become silent, and faults that are long enough for every host to become
 * silent.
 */
const short = { from: 200, range: 3000 };
const long = { from: silentMs + foundMs, range: 12_000 };
const isLong = ({ from, until }: Fault): boolean => until - from > long.from;

/** True for a fault after which a host may be silent: on a busy machine, the start of an agent takes seconds. */
const maySilence = ({ from, until }: Fault): boolean => until - from > silentMs - reportMs;

/** Starts a hub that listens on the address. */
const startTlsHub = async (t: TestContext, address: string) => {
  const folder = createFolder(t);
  const { cert, key, pem } = writeCertificate(folder, 'hub', undefined, undefined, address);
  const flags = ['--host', address, '--tls-cert', cert, '--tls-key', key, '--data-dir', join(folder, 'data')];
  const args = [...flags, '--silent-seconds', String(silentMs / 1000)];
  const { url } = await startProgram(t, args, { variables: hubVariables });
  const { request, close } = createClient(url, { ca: pem });
  atEnd(t, close);
  const body = { Username: 'admin', Password: passwords.admin };
  const { json } = await request('POST', '/api/auth/login', { body });
  return { url, cert, reader: { request, token: json['token'] as string } };
};

const startHosts = async (t: TestContext): Promise<{ hosts: FleetHost[]; reader: HubReader }> => {
  const { address, places } = createNetwork(t, count);
  const { url, cert, reader } = await startTlsHub(t, address);
  const hosts: FleetHost[] = [];
  for (const [index, place] of places.entries()) {
    const name = `web-${index}`;
    const { json } = await reader.request('POST', '/api/hosts', { token: reader.token, body: { name } });
    const words = ['agent', '--hub', url, '--ca', cert];
    const agent = await startAgent(t, [...words, String(json['code'])], { wrapper: place.wrapper });
    hosts.push({ name, place, words, agent });
  }
  return { hosts, reader };
};

const readLastReport = async ({ request, token }: HubReader, name: string): Promise<number> => {
  const { json } = await request<ShownHost>('GET', `/api/hosts/${name}`, { token });
  return Date.parse(json.lastReportAt ?? '1970');
};

/**
 * Fails unless each long fault, except orderly stops, has raised exactly one alert in time. Other alerts may only come
 * from faults that were almost long enough.
 */
const assertSilences = async (t: TestContext, { request, token }: HubReader, faults: readonly Fault[]) => {
  const path = '/api/alerts/search?limit=1000&source=host*';
  const { json } = await request<{ data: { time: string; message: string; source: string; status: string }[] }>(
    'GET',
    path,
    { token },
  );
  const alerts = json.data.map(({ time, ...alert }) => ({ ...alert, at: Date.parse(time) }));
  const delays: number[] = [];
  const explained = new Set<object>();
  const expected = faults.filter((fault) => maySilence(fault) && fault.kind !== 'restarted');
  for (const fault of expected) {
    const { host, kind, from, until } = fault;
    const mine = alerts.filter(({ source, at }) => source === `host/${host}` && at >= from && at <= until + foundMs);
    if (mine.length === 0 && !isLong(fault)) continue;
    const [firing, resolved, ...others] = mine.toSorted((one, other) => one.at - other.at);
    assert.match(String(firing?.message), new RegExp(`^${host} has not reported since`), `${host} was ${kind}`);
    assert.match(String(resolved?.message), /is reporting again: no reports from /);
    assert.deepEqual(others, []);
    delays.push((firing?.at ?? 0) - from);
    for (const alert of mine) explained.add(alert);
  }
  const others = alerts.filter((alert) => !explained.has(alert)).map(({ at, message }) => ({ at, message }));
  t.diagnostic(
    `${delays.length} silences found ${toSeconds(Math.min(...delays))} to ${toSeconds(Math.max(...delays))} s after ` +
      `the fault, ${others.length} others`,
  );
  assert.ok(delays.every((ms) => ms < silentMs + foundMs));
  const causes = faults.filter(({ host }) => others.some(({ message }) => message.startsWith(`${host} `)));
  assert.deepEqual(others, [], JSON.stringify({ others, causes }));
};

const toSeconds = (ms: number): string => (ms / 1000).toFixed(1);

/** Fails if readings are missing for a time at which the agent was running, or for a step without a fault. */
const findHoles = async (
  { request, token }: HubReader,
  name: string,
  faults: readonly Fault[],
  { from, until }: { from: number; until: number },
): Promise<{ holes: string[]; steps: number }> => {
  const holes: string[] = [];
  let steps = 0;
  const mine = faults.filter(({ host }) => host === name);
  const excuses = { 10: mine, 60: mine.filter(({ kind }) => kind !== 'cut off') };
  for (const [step, excused] of Object.entries(excuses)) {
    const path = `/api/hosts/${name}/history?step=${step}&from=${Math.ceil(from / 1000)}&until=${Math.floor(until / 1000)}`;
    const { json } = await request<{ start: string; processCount: (number | null)[] }>('GET', path, { token });
    steps += json.processCount.length;
    for (const [index, value] of json.processCount.entries()) {
      const begin = Date.parse(json.start) + index * Number(step) * 1000;
      const end = begin + Number(step) * 1000;
      const isExcused = excused.some((fault) => fault.from < end && fault.until > begin);
      if (value === null && end <= until && !isExcused)
        holes.push(`${name}: ${step} s from ${new Date(begin).toISOString()}`);
    }
  }
  return { holes, steps };
};

test('ten agents that are killed, frozen, cut off and restarted lose no alert and no reading, and are reported silent in time', {
  skip: toSkipNetwork(),
  timeout: 900_000,
}, async (t) => {
  const { hosts, reader } = await startHosts(t);
  const awaitReport = async (name: string, since: number): Promise<number> => {
    let at = 0;
    await waitUntil(
      `${name} reports`,
      async () => {
        await setTimeout(100);
        at = await readLastReport(reader, name);
        return at > since;
      },
      60_000,
    );
    return at;
  };
  const from = Math.max(...(await Promise.all(hosts.map(({ name }) => awaitReport(name, 0)))));
  const senders = startSenders(hosts);
  const faults: Fault[] = [];
  const endAt = Date.now() + faultsMs;
  const trouble = { hosts, random: createRandom(), endAt, faults, broken: new Set<FleetHost>(), awaitReport };
  // Never more than half of the hosts, because the hub would then assume a problem in its own network.
  await Promise.all([short, short, long, long].map((lengths) => causeFaults(t, { ...trouble, lengths })));
  const until = Date.now();
  const ids = await senders.stop();
  const counts = faultKinds.map((kind) => `${faults.filter((each) => each.kind === kind).length} ${kind}`);
  t.diagnostic(`${faults.length} faults in ${toSeconds(until - from)} s: ${counts.join(', ')}`);
  await assertExactlyOnce(t, reader, ids);
  await assertSilences(t, reader, faults);
  let found: Awaited<ReturnType<typeof findHoles>>[] = [];
  const findAll = () => Promise.all(hosts.map(({ name }) => findHoles(reader, name, faults, { from, until })));
  await waitUntil(
    'kept readings are delivered',
    async () => {
      await setTimeout(500);
      found = await findAll();
      return found.every(({ holes }) => holes.length === 0);
    },
    90_000,
  ).catch(() => undefined);
  const holes = found.flatMap((each) => each.holes);
  t.diagnostic(
    `${found.reduce((sum, { steps }) => sum + steps, 0)} steps of history, ${holes.length} unexplained holes`,
  );
  assert.deepEqual(holes, []);
});
