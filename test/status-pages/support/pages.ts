import assert from 'node:assert/strict';
import type { TestApp } from '../../support/app.ts';

type Asked = Pick<TestApp, 'request'>;

/** Creates or replaces a status page. */
export const putPage = async ({ request }: Asked, token: string, name: string, body: object): Promise<void> => {
  const { status, text } = await request('PUT', `/api/status-pages/${name}`, { token, body });
  assert.ok(status === 201 || status === 200, text);
};

/** Settings of a page with one check of a heartbeat. */
export const onePage = {
  title: 'Example',
  groups: [{ name: 'Services', checks: [{ name: 'Shop', heartbeat: 'job' }] }],
};
