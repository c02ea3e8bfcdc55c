import assert from 'node:assert/strict';
import type { Heartbeat, HeartbeatRunShape } from '../../../src/features/heartbeats/schema.ts';
import type { TestApp } from '../../support/app.ts';

type Asked = Pick<TestApp, 'request'>;

/** Creates a heartbeat, expected every hour unless the body says otherwise; its address is known to an Admin alone. */
export const createHeartbeat = async ({ request }: Asked, token: string, name: string, body: object = {}) => {
  const { status, json, headers } = await request<Heartbeat>('PUT', `/api/heartbeats/${name}`, {
    token,
    body: { ...('schedule' in body ? {} : { period: 3600 }), ...body },
  });
  assert.equal(status, 201, JSON.stringify(json));
  assert.equal(headers['etag'], `"${json.version}"`);
  assert.ok(json.uuid);
  return { ...json, uuid: json.uuid };
};

export const readHeartbeat = async ({ request }: Asked, name: string, token?: string): Promise<Heartbeat> => {
  const { status, json } = await request<Heartbeat>('GET', `/api/heartbeats/${name}`, token ? { token } : {});
  assert.equal(status, 200, JSON.stringify(json));
  return json;
};

export const listRuns = async ({ request }: Asked, name: string): Promise<HeartbeatRunShape[]> => {
  const { status, json } = await request<{ data: HeartbeatRunShape[] }>('GET', `/api/heartbeats/${name}/runs`);
  assert.equal(status, 200);
  return json.data;
};

/** Sends a request as clients of healthchecks do; resolves to status and text. */
export const ping = async (url: string, path: string, options: RequestInit = {}) => {
  const answer = await fetch(`${url}/ping/${path}`, options);
  return { status: answer.status, text: await answer.text() };
};
