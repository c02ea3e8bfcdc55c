import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { mostEvents } from '../../../src/features/incidents/incident.ts';
import type { Incident, IncidentEvent } from '../../../src/features/incidents/schema.ts';
import { secret } from '../../support/credentials.ts';
import { rounds } from '../../support/long.ts';
import { createRandom } from '../../support/random.ts';
import { createClaims, signToken } from '../../support/tokens.ts';
import { createTemporaryFolder } from './support/ending.ts';
import { alerts, type Kept } from './support/kept.ts';
import { killServer } from './support/kill.ts';
import { start } from './support/lives.ts';
import type { FaultServer } from './support/server.ts';

const token = signToken(createClaims());
const variables = { SIGNALBOX_JWT_SECRET: secret };
const kept: Kept = { ...alerts, flags: ['--profiles', 'alerts,incidents'] };

const senders = 8;
const people = 4;
const longestLifeMs = 1500;
const longestSnoozeMs = 1000;
/**
 * Returns the number of keys. An incident that was opened more than 64 times no longer knows exactly which alerts
 * between its openings belong to it.
 */
const keyCount = (lives: number): number => (lives > 20 ? 600 : 60);
/**
 * Milliseconds between two actions of a person, so that most of the server's time remains for other work. Also the
 * number of incidents in the person's list.
 */
const pauseMs = 20;
const listed = 20;

interface Sent {
  alerts: number;
  actions: number;
  /** Comments that got a 200, with their incidents and times. */
  comments: Map<string, { id: string; at: number }>;
}

test('after kill -9 at any moment each stored alert is in one incident, each acknowledged action is stored, and a restart changes nothing', async (t) => {
  const dataDir = join(createTemporaryFolder(t), 'data');
  const options = { dataDir, kept, variables };
  const { next: random } = createRandom();
  const sent: Sent = { alerts: 0, actions: 0, comments: new Map() };
  const total = rounds(4, 200);
  for (let round = 0; round < total; round += 1) {
    const server = await start(options);
    const load = runLoad(server.url, random, `${round}`, sent, keyCount(total));
    await setTimeout(50 + random() * longestLifeMs);
    // Every third server stores its state when it stops.
    if (round % 3 === 2) server.child.kill('SIGTERM');
    else await killServer(server);
    await server.ended;
    load.stop();
    await load.done;
  }
  // Every snooze must have ended, so that both readings show the same state.
  await setTimeout(longestSnoozeMs + 10);
  const first = await readAll(options);
  const second = await readAll(options);
  assert.deepEqual(second.incidents, first.incidents);
  const counts = new Map<number, number>();
  for (const number of first.alerts) if (number !== null) counts.set(number, (counts.get(number) ?? 0) + 1);
  assert.ok(first.alerts.length >= sent.alerts, `${first.alerts.length} stored of ${sent.alerts}`);
  assert.deepEqual(
    first.incidents.map(({ number, count }) => [number, count]),
    first.incidents.map(({ number }) => [number, counts.get(number)]),
  );
  const sum = first.incidents.reduce((all, { count }) => all + count, 0);
  assert.equal(sum, first.alerts.filter((number) => number !== null).length);
  const found = first.incidents.flatMap(({ id, timeline }) =>
    timeline.flatMap(({ comment }) => (comment ? [[comment, id] as const] : [])),
  );
  assert.equal(new Set(found.map(([comment]) => comment)).size, found.length, 'a comment is there twice');
  const [byComment, byId] = [new Map(found), new Map(first.incidents.map((incident) => [incident.id, incident]))];
  const missing = [...sent.comments].filter(([comment, { id }]) => byComment.get(comment) !== id);
  const lost = missing.filter(([, { id, at }]) => {
    const { timeline = [] } = byId.get(id) ?? {};
    // A full timeline has dropped the events before its first event.
    return timeline.length < mostEvents || at > Date.parse(timeline[0]?.at ?? '');
  });
  assert.deepEqual(lost, []);
  t.diagnostic(
    `incidents, kill -9: ${total} lives, ${first.alerts.length} alerts stored, ${sent.alerts} acknowledged, ${sum} in ` +
      `${first.incidents.length} incidents, ${sent.actions} actions answered, ` +
      `${sent.comments.size} comments, ${missing.length} of them dropped by full timelines, none lost`,
  );
  assert.ok(sent.alerts > 10 * total && found.length > total);
});

test('retention deletes no alert before it is counted, with a kill at any moment', async (t) => {
  const dataDir = join(createTemporaryFolder(t), 'data');
  const flags = ['--alerts-segment-bytes', '8192', '--alerts-retain-segments', '1'];
  const options = { dataDir, kept, variables, flags };
  const { next: random } = createRandom();
  const sent: Sent = { alerts: 0, actions: 0, comments: new Map() };
  const total = rounds(4, 100);
  let asked = 0;
  for (let round = 0; round < total; round += 1) {
    const server = await start(options);
    const load = runLoad(server.url, random, `${round}`, sent, keyCount(1), () => {
      asked += 1;
      return { key: `k${asked % keyCount(1)}`, level: 'ERROR', message: 'x'.repeat(random() * 300) };
    });
    await setTimeout(50 + random() * longestLifeMs);
    await killServer(server);
    load.stop();
    await load.done;
  }
  const { incidents, alerts: left } = await readAll(options);
  const sum = incidents.reduce((all, { count }) => all + count, 0);
  t.diagnostic(`${asked} alerts sent, ${sent.alerts} acknowledged, ${sum} counted, ${left.length} still in the log`);
  assert.ok(sum >= sent.alerts && sum <= asked, `${sum} counted, ${sent.alerts} acknowledged of ${asked}`);
  if (total >= 10) assert.ok(left.length < sent.alerts);
});

/** Sends alerts and acts on incidents until stopped or until the server has ended. */
const runLoad = (
  url: string,
  random: () => number,
  tag: string,
  sent: Sent,
  keys: number,
  createAlert?: () => object,
) => {
  let isStopped = false;
  const ask = async (path: string, body?: object) => {
    const answer = await fetch(`${url}${path}`, {
      method: body ? 'POST' : 'GET',
      ...(body && { body: JSON.stringify(body) }),
      headers: { authorization: `Bearer ${token}` },
    }).catch(() => undefined);
    if (!answer) isStopped = true;
    const json = answer && (await answer.json().catch(() => undefined));
    return { status: json === undefined ? 0 : answer?.status, json };
  };
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const send = async (): Promise<void> => {
    const key = `k${Math.floor(random() * keys)}`;
    const level = pick(['INFO', 'WARNING', 'ERROR', 'ERROR', 'CRITICAL']);
    const status = random() < 0.1 ? 'resolved' : 'firing';
    const usual =
      random() < 0.5 ? { key, level, status, message: tag } : { level, message: `${key} ${tag}`, source: key };
    const { status: answered } = await ask('/api/alert', createAlert?.() ?? usual);
    if (answered === 200) sent.alerts += 1;
  };
  let count = 0;
  const act = async (): Promise<void> => {
    await setTimeout(pauseMs);
    const { json } = await ask(`/api/incidents?state=all&limit=${listed}`);
    const incidents = (json as { data?: Incident[] } | undefined)?.data ?? [];
    if (incidents.length === 0) return;
    const { id } = pick(incidents);
    const comment = `${tag}-${count++}`;
    const action = pick(['acknowledge', 'resolve', 'comment', 'comment', 'reopen', 'snooze']);
    const until = new Date(Date.now() + random() * longestSnoozeMs + 5).toISOString();
    const path = `/api/incidents/${id}/${action === 'snooze' ? 'acknowledge' : action}`;
    const at = Date.now();
    const { status } = await ask(path, action === 'snooze' ? { comment, until } : { comment });
    if (status !== 200) return;
    sent.actions += 1;
    if (action === 'comment' || action === 'acknowledge') sent.comments.set(comment, { id, at });
  };
  const repeat = async (step: () => Promise<void>): Promise<void> => {
    while (!isStopped) await step();
  };
  const done = Promise.all([
    ...Array.from({ length: senders }, () => repeat(send)),
    ...Array.from({ length: people }, () => repeat(act)),
  ]);
  return {
    done,
    stop: (): void => {
      isStopped = true;
    },
  };
};

type Described = Incident & { timeline: IncidentEvent[] };

/**
 * Returns all incidents of a server on the data directory, and the number of each alert's incident. Null for an alert
 * without an incident.
 */
const readAll = async (options: Parameters<typeof start>[0]) => {
  const server: FaultServer = await start(options);
  try {
    const get = async <T>(path: string): Promise<T> => {
      const answer = await fetch(`${server.url}${path}`);
      assert.equal(answer.status, 200, path);
      return (await answer.json()) as T;
    };
    const incidents: Described[] = [];
    for (let next: number | null = Number.MAX_SAFE_INTEGER; next !== null; ) {
      const query: string = `?state=all&limit=100&before=${next}`;
      const page: { data: Incident[]; next: number | null } = await get(`/api/incidents${query}`);
      for (const { id } of page.data) {
        const { lastAlert: _, ...incident } = await get<Described & { lastAlert: unknown }>(`/api/incidents/${id}`);
        incidents.push(incident);
      }
      next = page.next;
    }
    const numbers: (number | null)[] = [];
    for (let next: number | null = Number.MAX_SAFE_INTEGER; next !== null; ) {
      const page: { data: { incident: { number: number } | null }[]; next: number | null } = await get(
        `/api/alerts/search?limit=1000&before=${next}`,
      );
      numbers.push(...page.data.map(({ incident }) => incident?.number ?? null));
      next = page.next;
    }
    return { incidents: incidents.sort((a, b) => a.number - b.number), alerts: numbers };
  } finally {
    await killServer(server);
  }
};
