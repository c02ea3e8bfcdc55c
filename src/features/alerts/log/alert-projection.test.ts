import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { startApp, type TestApp } from '../../../../test/support/app.ts';
import { severities } from '../../../kit/severity.ts';
import { createId, type StoredRecord, toLineStart, toRecordLine } from '../../../storage/journal/line.ts';
import { rememberedCount } from '../../../storage/recent-entries.ts';
import { AlertProjection } from './alert-projection.ts';

const begun = Date.parse('2026-01-31T09:30:00Z');
const clock = () => new Date(begun + 3_600_000);

/** Record without id and seq: from a known sender, from version 1.0 without a sender, or written by hand. */
const anyAlert = fc.record(
  {
    sender: fc.constantFrom('key:a', 'key:b'),
    format: fc.constantFrom('alertmanager', 'prometheus', 'cloudevents'),
    fingerprint: fc.constantFrom('f', 'g', 'h'),
    status: fc.constantFrom('firing', 'resolved'),
    level: fc.constantFrom(...severities, 'other'),
    time: fc.integer({ min: 0, max: 3600 }).map((seconds) => new Date(begun + seconds * 1000).toISOString()),
    endsAt: fc.constant(new Date(begun + 7_200_000).toISOString()),
    acknowledges: fc.constant(true),
    key: fc.constantFrom('hash:firing', 'hash:resolved', 'once'),
    bodyHash: fc.constant('body'),
    feature: fc.constantFrom('incidents'),
  },
  { requiredKeys: ['level'] },
);

/** Returns everything that the state can say about the records. */
const describe = ({ firing, repeats }: AlertProjection, records: readonly StoredRecord[]): unknown => ({
  expiring: [...firing.listExpiring()].toSorted((a, b) => (a.key < b.key ? -1 : 1)),
  series: records.map((record) => firing.findFiring(record) ?? null),
  resolutions: records.map((record) => firing.findResolution(record)),
  firsts: ['hash', 'once'].map((hash) => repeats.find(hash) ?? null),
});

test('a snapshot and the rest of the log restore the same state as the whole log', () => {
  fc.assert(
    fc.property(fc.array(anyAlert, { maxLength: 40 }), fc.nat(40), (alerts, cut) => {
      const records = alerts.map((alert, index): StoredRecord => ({ ...alert, id: createId(), seq: index + 1 }));
      const [whole, first, restored] = [
        new AlertProjection(clock),
        new AlertProjection(clock),
        new AlertProjection(clock),
      ];
      for (const record of records) whole.fold(record);
      for (const record of records.slice(0, cut)) first.fold(record);
      const saved = first.save();
      // A snapshot is written while later records are being folded.
      for (const record of records.slice(cut)) first.fold(record);
      for (const entry of JSON.parse(JSON.stringify([...saved].flat()))) restored.restore(entry);
      for (const record of records.slice(cut)) restored.fold(record);
      const toPlain = (state: AlertProjection): unknown => JSON.parse(JSON.stringify(describe(state, records)));
      assert.deepEqual(toPlain(restored), toPlain(whole));
      assert.deepEqual(toPlain(first), toPlain(whole));
    }),
    { numRuns: 500 },
  );
});

const send = (app: TestApp, status: string, fingerprint = 'f') =>
  app.request<{ ids: string[]; repeated: number }>('POST', '/api/alert/alertmanager', {
    body: { alerts: [{ status, labels: { alertname: 'HostDown' }, fingerprint }] },
  });

test('firing alerts are known after a restart, however many alerts were stored since', async (t) => {
  const app = await startApp(t);
  const [id] = (await send(app, 'firing')).json.ids;
  await app.close();
  const dataDir = join(app.folder, 'data');
  const lines = Array.from({ length: rememberedCount + 1 }, (_, index) =>
    toRecordLine(toLineStart({ message: 'm' }, createId()), index + 2),
  );
  appendFileSync(join(dataDir, 'alerts.jsonl'), lines.join(''));
  const next = await startApp(t, { settings: { dataDir } });
  assert.deepEqual((await send(next, 'firing')).json, { received: true, ids: [id], repeated: 1 });
  const [end] = (await send(next, 'resolved')).json.ids;
  assert.equal((await next.request('GET', `/api/alerts/${end}`)).json['resolves'], id);
});

test('an alert that the log has lost is stored when its sender repeats it', async (t) => {
  const app = await startApp(t);
  const [kept] = (await send(app, 'firing', 'kept')).json.ids;
  const dataDir = join(app.folder, 'data');
  const path = join(dataDir, 'alerts.jsonl');
  const before = readFileSync(path);
  const [lost] = (await send(app, 'firing', 'lost')).json.ids;
  await app.close();
  // Restoring a backup, or a power cut without sync, loses the end of the log.
  writeFileSync(path, before);
  const next = await startApp(t, { settings: { dataDir } });
  const { ids, repeated } = (await send(next, 'firing', 'lost')).json;
  assert.equal(repeated, 0);
  assert.notEqual(ids[0], lost);
  assert.equal((await next.request('GET', `/api/alerts/${ids[0]}`)).status, 200);
  assert.deepEqual((await send(next, 'firing', 'kept')).json, { received: true, ids: [kept], repeated: 1 });
});

test('alerts are stored whichever byte of the snapshot is damaged', async (t) => {
  const app = await startApp(t);
  for (const status of ['firing', 'resolved', 'firing']) await send(app, status);
  await app.close();
  const dataDir = join(app.folder, 'data');
  const path = join(dataDir, 'alerts.known.state');
  const whole = readFileSync(path);
  for (let at = 0; at < whole.length; at += 31) {
    const damaged = Buffer.from(whole);
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    writeFileSync(path, damaged);
    const next = await startApp(t, { settings: { dataDir } });
    for (const status of ['firing', 'resolved']) {
      assert.equal((await send(next, status)).status, 200, `byte ${at}`);
    }
    await next.close();
  }
});
