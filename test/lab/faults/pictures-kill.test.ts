import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Incident } from '../../../src/features/incidents/schema.ts';
import { secret } from '../../support/credentials.ts';
import { createFolder } from '../../support/folder.ts';
import { startProgram } from '../../support/program.ts';
import { createClaims, signToken } from '../../support/tokens.ts';
import { waitUntil } from '../../support/wait.ts';

const token = signToken(createClaims());

test('after kill -9 a picture that an incident shows is stored, with its timeline event', async (t) => {
  const folder = join(createFolder(t), 'data');
  const start = () => startProgram(t, ['--data-dir', folder], { variables: { SIGNALBOX_JWT_SECRET: secret } });
  let server = await start();
  const read = async (path: string) => (await server.request('GET', path, { token })).text;
  const readIncident = async (): Promise<Incident> => JSON.parse(await read('/api/incidents/1'));
  const body = { level: 'CRITICAL', message: 'the demo has failed', hostname: hostname() };
  assert.equal((await server.request('POST', '/api/alert', { body })).status, 200);
  await waitUntil('the incident has a picture', async () => typeof (await readIncident()).snapshot === 'string');
  await server.stop('SIGKILL');
  server = await start();
  const incident = await readIncident();
  const text = await read('/api/incidents/1/snapshot');
  const { takenAt, processes } = JSON.parse(text);
  assert.ok(processes.count > 0);
  assert.ok(Math.abs(Date.parse(takenAt) - Date.parse(String(incident.snapshot))) < 1000);
  await server.stop('SIGKILL');
  server = await start();
  assert.deepEqual([await readIncident(), await read('/api/incidents/1/snapshot')], [incident, text]);
  await server.stop();
});
