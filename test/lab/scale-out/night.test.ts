import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passwords } from '../../support/credentials.ts';
import { readNotificationTexts } from '../../support/notifications.ts';
import { toSkipPostgres } from '../../support/postgres/installation.ts';
import { createDatabase } from '../../support/postgres/shared-server.ts';
import { answer, type Receiver, startReceiver } from '../../support/receiver.ts';
import type { Scope } from '../../support/scope.ts';
import { waitUntil } from '../../support/wait.ts';
import { type Instances, startInstances } from './support/instances.ts';

const patienceMs = 90_000;
const password = 'correct horse battery staple';
const people = ['anna', 'ben', 'carl'] as const;
const title = 'disk of db-1 is full';

interface Incident {
  acknowledgedBy: string | null;
  state: string;
  timeline: { type: string; by: string | null; step: number | null; targets: string[] | null; what: string | null }[];
}

interface Night {
  instances: Instances['all'];
  /** Milliseconds from 02:00 to 09:00. */
  lengthMs: number;
  print(line: string): void;
}

/** Returns the messages and updates in the requests to a person's phone. */
const messagesTo = ({ requests }: Receiver): string[] =>
  requests.flatMap(({ body }) => {
    const { type, message } = JSON.parse(body) as { type: string; message?: string };
    return type === 'alert' ? [message ?? ''] : readNotificationTexts(body);
  });

/**
 * Simulates a night: a page at 02:00 that Anna's phone does not accept, Ben, who is notified and takes over, Carl's
 * shift at 09:00, and two kills in between.
 */
const playNight = async (t: Scope, { instances, lengthMs, print }: Night): Promise<void> => {
  let [alive] = instances;
  const [anna, ben, carl] = [await startReceiver(t, answer(503)), await startReceiver(t), await startReceiver(t)];
  const send = async <T = Record<string, unknown>>(method: string, path: string, body?: object, token?: string) => {
    const response = await fetch(`${alive.url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${text}`);
    return JSON.parse(text) as T;
  };
  const logIn = async (name: string, secret: string): Promise<string> =>
    (await send<{ token: string }>('POST', '/api/auth/login', { Username: name, Password: secret })).token;
  const admin = await logIn('admin', passwords.admin);
  for (const [index, phone] of [anna, ben, carl].entries()) {
    const name = people[index] ?? '';
    await send('POST', '/api/users', { name, role: 'Reader', password }, admin);
    const way = { type: 'webhook', url: `${phone.url}/${name}`, groupSeconds: 0 };
    await send('PUT', `/api/people/${name}/ways/phone`, way, admin);
  }
  const tokens = { ben: await logIn('ben', password), carl: await logIn('carl', password) };
  const begun = Date.now();
  const handover = new Date(begun + lengthMs).toISOString();
  const turn = { every: '1 week' };
  const layers = [
    { people: ['anna'], handover: turn, from: new Date(begun - 3_600_000).toISOString(), until: handover },
    { people: ['carl'], handover: turn, from: handover },
  ];
  await send('PUT', '/api/rotations/ops', { layers }, admin);
  const steps = [
    { notify: ['rotation:ops'], wait: '3 seconds' },
    { notify: ['person:ben'], wait: '1 hour' },
  ];
  await send('PUT', '/api/escalation-policies/ops', { steps }, admin);
  await send('PUT', '/api/escalation-routing', { rules: [], default: 'ops' }, admin);
  const tell = (text: string): void => {
    const minutes = 120 + Math.floor(((Date.now() - begun) / lengthMs) * 420);
    const clock = [Math.floor(minutes / 60), minutes % 60].map((part) => `${part}`.padStart(2, '0')).join(':');
    print(`${clock}  ${text}`);
  };
  const gets = (phone: Receiver, what: string): Promise<void> =>
    waitUntil(`${what} arrives`, () => messagesTo(phone).some((message) => message.includes(what)), patienceMs);
  const read = () => send<Incident>('GET', '/api/incidents/1');
  /** Kills an instance. If there is a second instance, it runs alone for a while. */
  const kill = async (index: number): Promise<void> => {
    const victim = instances[index % instances.length] ?? alive;
    await victim.stop('SIGKILL');
    const other = instances.find((each) => each !== victim);
    tell(
      other
        ? `kill -9 of instance ${(index % instances.length) + 1}; the other one goes on`
        : 'kill -9; the server starts again',
    );
    if (!other) await victim.start();
    alive = other ?? victim;
  };
  tell(`an alert arrives: ${title}`);
  await send('POST', '/api/alert', { key: 'disk', level: 'ERROR', hostname: 'db-1', message: title });
  await gets(anna, `opened #1 ${title}`);
  tell('Anna is on call. Her phone gets the page and responds 503');
  await kill(0);
  await gets(ben, `opened #1 ${title}`);
  tell('nobody has acknowledged: Ben is notified');
  await send('POST', '/api/incidents/1/take-over', {}, tokens.ben);
  tell(`Ben takes over: ${(await read()).state} by ${(await read()).acknowledgedBy}`);
  if (instances.length > 1) await instances[0].start();
  await kill(1);
  const report = 'You are now on call in ops';
  await gets(carl, report);
  tell('the shift of Carl begins; the report that he gets:');
  const text = messagesTo(carl).find((message) => message.includes(report)) ?? '';
  for (const line of text.split('\n')) print(`         ${line}`);
  assert.match(text, /#1 ERROR db-1: disk of db-1 is full \(acknowledged by ben\)/);
  await send('POST', '/api/incidents/1/take-over', {}, tokens.carl);
  await gets(ben, 'addressed #1');
  tell('Carl takes over, and Ben is notified of that');
  await send('POST', '/api/incidents/1/resolve', {}, tokens.carl);
  await gets(ben, `resolved #1 ${title}`);
  tell('Carl resolves the incident');
  const { timeline } = await read();
  const taken = timeline.flatMap(({ type, step, targets }) =>
    type === 'addressed' && step ? [[step, targets?.join()]] : [],
  );
  assert.deepEqual(taken, [
    [1, 'person:anna'],
    [2, 'person:ben'],
  ]);
  const ids = ben.requests.filter(({ body }) => body.includes('"opened"')).map(({ headers }) => headers['webhook-id']);
  assert.equal(new Set(ids).size, 1, 'Ben is notified once');
  print(
    `         timeline: ${timeline.map(({ type, by, what }) => [type, what ?? by].filter(Boolean).join(' ')).join(', ')}`,
  );
};

test('in a night with two kills, Anna does not answer, Ben takes over, and Carl gets the report at 09:00', async (t) => {
  const { all } = await startInstances(t, { store: 'memory', count: 1 });
  await playNight(t, { instances: all, lengthMs: 30_000, print: (line) => t.diagnostic(line) });
});

test('the same night passes in the same way on two PostgreSQL instances, each of which is killed once', {
  skip: toSkipPostgres(),
}, async (t) => {
  const { all } = await startInstances(t, { store: await createDatabase(t) });
  await playNight(t, { instances: all, lengthMs: 75_000, print: (line) => t.diagnostic(line) });
});
