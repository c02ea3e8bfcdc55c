import assert from 'node:assert/strict';
import type { Heartbeat, HeartbeatRun } from '../../../src/features/heartbeats/schema.ts';
import type { TestApp } from '../../support/app.ts';

type Asked = Pick<TestApp, 'request'>;

/** Creates a heartbeat, by default with a period of an hour. */
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

export const listRuns = async ({ request }: Asked, name: string): Promise<HeartbeatRun[]> => {
  const { status, json } = await request<{ data: HeartbeatRun[] }>('GET', `/api/heartbeats/${name}/runs`);
  assert.equal(status, 200);
  return json.data;
};

/** Sends a ping as healthchecks clients do. Resolves to status and text. */
export const ping = async (url: string, path: string, options: RequestInit = {}) => {
  const answer = await fetch(`${url}/ping/${path}`, options);
  return { status: answer.status, text: await answer.text() };
};
