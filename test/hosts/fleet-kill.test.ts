import assert from 'node:assert/strict';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { createFolder } from '../support/folder.ts';
import { amount } from '../support/long.ts';
import { waitUntil } from '../support/wait.ts';
import { type Agent, addHost, startAgent } from './support/agent.ts';
import { logIn, startHub } from './support/hub.ts';

/** Sends an alert to an agent's socket; resolves to the alert's id, or to undefined without a response. */
const sendTo = (socketPath: string, message: string): Promise<string | undefined> =>
  new Promise((resolve) => {
    const body = JSON.stringify({ message, source: 'faults', level: 'WARNING' });
    const sent = request(
      {
        socketPath,
        path: '/api/alert',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        timeout: 5000,
      },
      (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve(response.statusCode === 200 ? JSON.parse(text).id : undefined));
        response.on('error', () => resolve(undefined));
      },
    );
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => resolve(undefined));
    sent.end(body);
  });

test('the hub has each acknowledged alert once, with its id, after kill -9 of agents and hub at any moment', {
  timeout: 900_000,
}, async (t) => {
  const count = amount(3, 10);
  const endAt = performance.now() + amount(15, 300) * 1000;
  const dataDir = createFolder(t);
  let { hub, token } = await startHub(t, { dataDir });
  const { port } = new URL(hub.url);
  const agents: { words: string[]; agent: Agent }[] = [];
  for (let index = 0; index < count; index += 1) {
    const words = await addHost(hub, token, `web-${index}`);
    agents.push({ words: words.slice(0, 3), agent: await startAgent(t, words) });
  }
  const ids = new Set<string>();
  let kills = 0;
  const send = async ({ agent: { dataDir: folder } }: { agent: Agent }): Promise<void> => {
    for (let number = 0; performance.now() < endAt; number += 1) {
      const id = await sendTo(join(folder, 'agent.sock'), `${folder} ${number}`);
      if (id !== undefined) ids.add(id);
      await setTimeout(id === undefined ? 100 : 20);
    }
  };
  const killAgents = async (): Promise<void> => {
    while (performance.now() < endAt) {
      await setTimeout(500 + Math.random() * 2000);
      const one = agents[Math.floor(Math.random() * count)];
      if (!one) continue;
      await one.agent.stop('SIGKILL');
      kills += 1;
      one.agent = await startAgent(t, one.words, { dataDir: one.agent.dataDir });
    }
  };
  const killHub = async (): Promise<void> => {
    while (performance.now() < endAt) {
      await setTimeout(2000 + Math.random() * 3000);
      await hub.stop('SIGKILL');
      kills += 1;
      await setTimeout(Math.random() * 2000);
      ({ hub, token } = await startHub(t, { dataDir, port }));
    }
  };
  await Promise.all([...agents.map(send), killAgents(), killHub()]);
  const countAtHub = async (): Promise<Map<string, number>> => {
    const counts = new Map<string, number>();
    for (let before = ''; ; ) {
      const path = `/api/alerts/search?source=faults&limit=1000${before}`;
      const { json } = await hub.request<{ data: { id: string; seq: number }[] }>('GET', path, { token });
      for (const { id } of json.data) counts.set(id, (counts.get(id) ?? 0) + 1);
      const last = json.data.at(-1);
      if (!last || json.data.length < 1000) return counts;
      before = `&before=${last.seq}`;
    }
  };
  token = await logIn(hub);
  await waitUntil(
    'all acknowledged alerts are at the hub',
    async () => {
      const counts = await countAtHub();
      return [...ids].every((id) => counts.has(id));
    },
    120_000,
  );
  await setTimeout(2000);
  const counts = await countAtHub();
  const doubled = [...ids].filter((id) => counts.get(id) !== 1);
  t.diagnostic(`${count} agents, ${kills} kills, ${ids.size} alerts acknowledged, 0 lost, ${doubled.length} doubled`);
  assert.deepEqual(doubled, []);
  assert.ok(ids.size > 20 && kills > 2, `${ids.size} alerts, ${kills} kills`);
});
