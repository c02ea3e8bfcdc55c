import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Silence } from '../../../src/features/silences/schema.ts';
import { secret } from '../../support/credentials.ts';
import { rounds } from '../../support/long.ts';
import { createRandom } from '../../support/random.ts';
import { createClaims, signToken } from '../../support/tokens.ts';
import { createTemporaryFolder } from './support/ending.ts';
import { alerts, type Kept } from './support/kept.ts';
import { killServer } from './support/kill.ts';
import { start } from './support/lives.ts';

const token = signToken(createClaims());
const kept: Kept = { ...alerts, flags: ['--profiles', 'incidents'] };
const people = 8;
const longestLifeMs = 600;

/**
 * Possible comments of a silence: the last acknowledged comment, and the comment in a final request without a response.
 */
interface Known {
  acknowledged: string;
  attempted: string;
  isEnded: boolean;
}

test('after kill -9 at any moment each acknowledged change of a silence is stored, and a restart changes nothing', async (t) => {
  const options = {
    dataDir: join(createTemporaryFolder(t), 'data'),
    kept,
    variables: { SIGNALBOX_JWT_SECRET: secret },
  };
  const { next: random } = createRandom();
  const known = new Map<string, Known>();
  const total = rounds(4, 200);
  // On a busy machine, a life may end before its first response. Further lives make up for it.
  for (let round = 0; round < total || (known.size <= total && round < 10 * total); round += 1) {
    const server = await start(options);
    const done = Promise.all(
      Array.from({ length: people }, (_, person) => act(server.url, known, `${round}-${person}`)),
    );
    await setTimeout(random() * longestLifeMs);
    await killServer(server);
    await server.ended;
    await done;
  }
  const read = async (): Promise<Silence[]> => {
    const server = await start(options);
    const found: Silence[] = [];
    for (let before = ''; ; ) {
      const { json } = await ask(server.url, 'GET', `/api/silences?limit=1000${before}`);
      const { data, next } = json as { data: Silence[]; next: string | null };
      found.push(...data);
      if (next === null) break;
      before = `&before=${next}`;
    }
    await killServer(server);
    await server.ended;
    return found;
  };
  const [first, second] = [await read(), await read()];
  assert.deepEqual(second, first);
  const found = new Map(first.map((silence) => [silence.id, silence]));
  let changes = 0;
  for (const [id, { acknowledged, attempted, isEnded }] of known) {
    const silence = found.get(id);
    assert.ok(silence, `silence ${id} is lost`);
    assert.ok([acknowledged, attempted].includes(silence.comment), `${id}: ${silence.comment} is not ${acknowledged}`);
    if (isEnded) assert.equal(silence.state, 'expired');
    changes += Number(acknowledged.split(' ').at(-1));
  }
  t.diagnostic(`settings, kill -9: ${total} lives, ${known.size} silences, ${changes} changes, none lost`);
  assert.ok(known.size > total);
});

/** Creates silences, changes each several times and then ends it, until the server stops responding. */
const act = async (url: string, known: Map<string, Known>, name: string): Promise<void> => {
  for (let count = 0; ; count += 1) {
    const toBody = (comment: string) => ({ match: { source: name }, endsAt: '2090-01-01T00:00:00Z', comment });
    const created = await ask(url, 'POST', '/api/silences', toBody(`${name} ${count} 0`));
    if (created.status !== 201) return;
    const { id } = created.json as Silence;
    const one: Known = { acknowledged: `${name} ${count} 0`, attempted: '', isEnded: false };
    known.set(id, one);
    for (let change = 1; change < 4; change += 1) {
      one.attempted = `${name} ${count} ${change}`;
      if ((await ask(url, 'PUT', `/api/silences/${id}`, toBody(one.attempted))).status !== 200) return;
      one.acknowledged = one.attempted;
    }
    if ((await ask(url, 'DELETE', `/api/silences/${id}`)).status !== 200) return;
    one.isEnded = true;
  }
};

const ask = async (url: string, method: string, path: string, body?: object) => {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body && { body: JSON.stringify(body) }),
  }).catch(() => undefined);
  const json: unknown = await answer?.json().catch(() => undefined);
  return { status: json === undefined ? 0 : answer?.status, json };
};
