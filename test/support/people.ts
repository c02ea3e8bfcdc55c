import assert from 'node:assert/strict';
import type { TestApp } from './app.ts';
import { adminToken } from './outbox.ts';
import type { Receiver } from './receiver.ts';

const password = 'correct horse battery staple';

/** Creates a user, and returns the user's token. */
export const createUser = async (app: TestApp, name: string, role: 'Admin' | 'Reader' = 'Reader'): Promise<string> => {
  const token = await adminToken(app);
  const created = await app.request('POST', '/api/users', { token, body: { name, role, password } });
  assert.equal(created.status, 201, created.text);
  const { json } = await app.request('POST', '/api/auth/login', { body: { Username: name, Password: password } });
  return json['token'] as string;
};

/** Creates a user with one way: a webhook to the receiver, without grouping. */
export const createPerson = async (
  app: TestApp,
  name: string,
  { url }: Receiver,
  way: object = {},
): Promise<string> => {
  const token = await createUser(app, name);
  const body = { type: 'webhook', url: `${url}/${name}`, groupSeconds: 0, ...way };
  const put = await app.request('PUT', '/api/people/me/ways/phone', { token, body });
  assert.equal(put.status, 201, put.text);
  return token;
};

/** Creates or replaces a policy, and makes it the default policy of the routing. */
export const putPolicy = async (app: TestApp, policy: object, name = 'ops'): Promise<void> => {
  const token = await adminToken(app);
  const created = await app.request('PUT', `/api/escalation-policies/${name}`, { token, body: policy });
  assert.ok(created.status < 300, created.text);
  const body = { rules: [], default: name };
  const routed = await app.request('PUT', '/api/escalation-routing', { token, body });
  assert.equal(routed.status, 200, routed.text);
};
