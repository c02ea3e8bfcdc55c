import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createHeartbeat, ping } from '../heartbeats/support/heartbeats.ts';
import { waitForIncident } from '../incidents/support/incidents.ts';
import { startApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { readAvailability, waitForCheck } from './support/availability.ts';

/** Settings with a watch of a file, which is up while the file exists. */
const watchFile = (path: string) => ({ watches: [{ name: 'file', type: 'file', path, every: 1 }] });

test('a watch that fails and works again has an outage with its length, cause and incident', async (t) => {
  const path = join(createFolder(t), 'present');
  const app = await startApp(t, { settings: watchFile(path) });
  const token = await app.login('admin');
  assert.equal((await readAvailability(app, token, 'watches/file')).percentage, null);
  await waitForCheck(app, token, 'watches/file', 'down');
  const incident = await waitForIncident(app, { state: 'open' });
  writeFileSync(path, '');
  const after = await waitForCheck(app, token, 'watches/file', 'up');
  const [outage] = after.outages;
  assert.equal(after.outageCount, 1);
  assert.equal(outage?.incident, incident.number);
  assert.equal(outage?.seconds, after.down);
  assert.ok(after.days.length === 90 && after.days.at(-1)?.down === after.down);
  assert.ok(outage?.cause?.includes(path), String(outage?.cause));
});

test('a heartbeat is unknown before its first ping, then up, and down from its failure on', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const { uuid } = await createHeartbeat(app, token, 'job');
  const fresh = await readAvailability(app, token, 'heartbeats/job');
  assert.deepEqual([fresh.state, fresh.percentage, fresh.up], ['unknown', null, 0]);
  await ping(app.url, uuid);
  await waitForCheck(app, token, 'heartbeats/job', 'up');
  await ping(app.url, `${uuid}/3`);
  const { outages } = await waitForCheck(app, token, 'heartbeats/job', 'down');
  assert.deepEqual([outages[0]?.cause, outages[0]?.endsAt], ['Heartbeat job failed with exit code 3', null]);
});
