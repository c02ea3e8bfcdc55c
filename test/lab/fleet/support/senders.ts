import assert from 'node:assert/strict';
import { request } from 'node:http';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Agent } from '../../../hosts/support/agent.ts';
import type { Request } from '../../../support/client.ts';
import { waitUntil } from '../../../support/wait.ts';

/** Source of all alerts that the test sends. */
const source = 'faults';

/** Milliseconds between two alerts to an agent. */
const pauseMs = 50;

/** Place where alerts are sent, with the agent that currently runs there. */
export interface Sending {
  name: string;
  agent: Agent;
}

/** Client of the hub, with a token. */
export interface HubReader {
  request: Request;
  token: string;
}

/**
 * Sends an alert to an agent's socket. Resolves to the alert's id, or to undefined if the alert is not acknowledged.
 */
const sendTo = (socketPath: string, message: string): Promise<string | undefined> =>
  new Promise((resolve) => {
    const headers = { 'content-type': 'application/json' };
    const sent = request(
      { socketPath, path: '/api/alert', method: 'POST', headers, timeout: 5000 },
      async (response) => {
        const chunks: Buffer[] = await response.toArray().catch(() => []);
        const isWhole = response.statusCode === 200 && response.complete;
        resolve(isWhole ? JSON.parse(Buffer.concat(chunks).toString()).id : undefined);
      },
    );
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => resolve(undefined));
    sent.end(JSON.stringify({ message, source, level: 'INFO' }));
  });

/** Sends alerts to all agents until stopped. Resolves to the ids of the acknowledged alerts. */
export const startSenders = (all: readonly Sending[]): { stop(): Promise<Set<string>> } => {
  const ids = new Set<string>();
  let isOver = false;
  const work = async (sending: Sending): Promise<void> => {
    const send = async (number: number | string) => {
      const id = await sendTo(join(sending.agent.dataDir, 'agent.sock'), `${sending.name} ${number}`);
      if (id !== undefined) ids.add(id);
      return id;
    };
    for (let number = 0; !isOver; number += 1) {
      await send(number);
      await setTimeout(pauseMs);
    }
    // Alerts arrive in order, so no earlier alert follows the last one.
    assert.ok(await send('last'), `${sending.name} takes alerts in the end`);
  };
  const working = Promise.all(all.map(work));
  return {
    stop: async () => {
      isOver = true;
      await working;
      return ids;
    },
  };
};

interface Found {
  id: string;
  seq: number;
  message: string;
}

/** Lists all alerts from the senders, as stored at the hub. */
export const listReceived = async ({ request: ask, token }: HubReader): Promise<Found[]> => {
  const all: Found[] = [];
  for (let before = ''; ; ) {
    const path = `/api/alerts/search?source=${source}&limit=1000${before}`;
    const { json, status } = await ask<{ data: Found[] }>('GET', path, { token });
    assert.equal(status, 200);
    all.push(...json.data);
    const last = json.data.at(-1);
    if (!last || json.data.length < 1000) return all;
    before = `&before=${last.seq}`;
  }
};

/** Waits until the hub has all acknowledged alerts. Fails if any alert, acknowledged or not, is stored twice. */
export const assertExactlyOnce = async (t: TestContext, reader: HubReader, ids: ReadonlySet<string>): Promise<void> => {
  let received: Found[] = [];
  let lost: string[] = [];
  await waitUntil(
    'the hub has all acknowledged alerts',
    async () => {
      received = await listReceived(reader);
      const known = new Set(received.map(({ id }) => id));
      lost = [...ids].filter((id) => !known.has(id));
      if (lost.length > 0) await setTimeout(500);
      return lost.length === 0;
    },
    120_000,
  ).catch((error) => t.diagnostic(`${lost.length} of ${ids.size} alerts are lost: ${error.message}`));
  const doubled = (['id', 'message'] as const).flatMap((key) => listRepeated(received.map((each) => each[key])));
  t.diagnostic(
    `${ids.size} alerts acknowledged, ${lost.length} lost, ${doubled.length} doubled; ` +
      `${received.length - ids.size} more arrived that were not acknowledged`,
  );
  assert.deepEqual([lost, doubled], [[], []]);
};

const listRepeated = (values: readonly string[]): string[] => {
  const seen = new Set<string>();
  return values.filter((value) => seen.size === seen.add(value).size);
};
