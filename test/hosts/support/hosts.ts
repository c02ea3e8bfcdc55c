import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HostDetails } from '../../../src/features/hosts/schema.ts';
import type { HostReport } from '../../../src/kit/host-report/report-schema.ts';
import type { TestApp } from '../../support/app.ts';
import { atEnd, type Scope } from '../../support/scope.ts';

type Hub = Pick<TestApp, 'request'>;

/** Creates a host, exchanges its code for a key, and returns the key. */
export const enrol = async ({ request }: Hub, token: string, name: string): Promise<string> => {
  const created = await request('POST', '/api/hosts', { token, body: { name } });
  assert.equal(created.status, 201, JSON.stringify(created.json));
  const enrolled = await request('POST', '/api/hosts/enrol', { body: { code: created.json['code'] } });
  assert.equal(enrolled.status, 201, JSON.stringify(enrolled.json));
  return enrolled.json['key'] as string;
};

/** Creates a report whose machine-id is the host's name. */
export const createReport = (name: string, more: Partial<HostReport> = {}): HostReport => ({
  time: new Date().toISOString(),
  machineId: name,
  hostname: `${name}.example.org`,
  version: '1.2.0',
  uptimeSeconds: 3600,
  readings: {
    cpu: 0.5,
    memoryUsed: 1000,
    memoryTotal: 4000,
    disks: [{ mountPath: '/', used: 10, total: 100 }],
  },
  ...more,
});

/** Sends a report and returns the response. */
export const report = ({ request }: Hub, key: string, name: string, more: Partial<HostReport> = {}) =>
  request('POST', `/api/hosts/${name}/readings`, { token: key, body: createReport(name, more) });

export const readHost = async ({ request }: Hub, token: string, name: string): Promise<HostDetails> => {
  const { status, json } = await request<HostDetails>('GET', `/api/hosts/${name}`, { token });
  assert.equal(status, 200);
  return json;
};

/** Starts a plain HTTP server on a free port of 127.0.0.1. The server is closed when the test ends. Returns its URL. */
export const listenPlain = async (t: Scope, server: Server): Promise<string> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, () => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
