import assert from 'node:assert/strict';
import type { Watch, WatchedThing } from '../../../src/features/watches/schema.ts';
import type { TestApp } from '../../support/app.ts';
import { waitUntil, waitUntilPasses } from '../../support/wait.ts';

type Asked = Pick<TestApp, 'request'>;

export const createWatch = async ({ request }: Asked, token: string, body: object): Promise<Watch> => {
  const { status, json, headers } = await request<Watch>('POST', '/api/watches', { token, body });
  assert.equal(status, 201, JSON.stringify(json));
  assert.equal(headers['etag'], `"${json.version}"`);
  return json;
};

export const readWatch = async ({ request }: Asked, token: string, name: string): Promise<Watch> => {
  const { status, json } = await request<Watch>('GET', `/api/watches/${name}`, { token });
  assert.equal(status, 200, JSON.stringify(json));
  return json;
};

/** Tests a watch. Resolves to the things that the watch found. */
export const tryWatch = async ({ request }: Asked, token: string, body: object): Promise<WatchedThing[]> => {
  const { status, json } = await request<{ things: WatchedThing[] }>('POST', '/api/watches/test', {
    token,
    body: { name: 'trial', ...body },
  });
  assert.equal(status, 200, JSON.stringify(json));
  return json.things;
};

export interface RaisedAlert {
  id: string;
  source: string;
  hostname: string;
  level: string;
  message: string;
  format: string;
  status: string;
  fingerprint: string;
  details: string | null;
  labels: Record<string, string>;
  resolves: string | null;
}

/** Resolves to the alerts of watches, oldest first, once the log has `count` of them. */
export const waitForAlerts = async ({ request }: Asked, count: number, limitMs?: number): Promise<RaisedAlert[]> => {
  let alerts: RaisedAlert[] = [];
  await waitUntilPasses(async () => {
    const { json } = await request<{ data: RaisedAlert[] }>('GET', '/api/alerts/search?limit=100');
    alerts = json.data.filter(({ format }) => format === 'watch').toReversed();
    assert.ok(alerts.length >= count, `${count} alerts of watches, not ${alerts.map(({ message }) => message)}`);
  }, limitMs);
  assert.equal(alerts.length, count, JSON.stringify(alerts));
  return alerts;
};

export const waitForState = ({ request }: Asked, token: string, name: string, state: Watch['state']): Promise<void> =>
  waitUntil(`watch ${name} is ${state}`, async () => {
    const { json } = await request<Watch>('GET', `/api/watches/${name}`, { token });
    return json.state === state;
  });
