import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createFolder } from '../../../test/support/folder.ts';
import { atEnd, type Scope } from '../../../test/support/scope.ts';
import type { HostReport } from '../../kit/host-report/report-schema.ts';
import type { HostCheck } from '../../kit/offers.ts';
import { createReplacedFile } from '../../storage/replaced-file.ts';
import type { HubReply } from './hub-client.ts';
import { KeptReadings } from './kept-readings.ts';
import { Reporter } from './reporter.ts';

const start = Date.parse('2026-01-31T12:00:00Z');

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 200; turn += 1) await nextTurn();
};

/** Starts a reporter with mock timers and two stored minutes. `respond` returns the status for each report. */
const startReporter = async (
  t: Scope & { mock: typeof test.mock },
  respond: (report: HostReport) => unknown,
  checks: HostCheck[] = [],
) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const kept = new KeptReadings(createReplacedFile(createFolder(t), 'hub.readings'));
  for (const minute of [0, 1, 2]) await kept.add(start + minute * 60_000, { cpu: 0.5 });
  await kept.flush();
  const sent: HostReport[] = [];
  const warnings: string[] = [];
  const reporter = new Reporter({
    collector: {
      start: () => undefined,
      stop: () => undefined,
      collect: async () => ({ time: new Date(start).toISOString(), machineId: 'a', hostname: 'a', readings: {} }),
    },
    client: {
      send: async (_path, report): Promise<HubReply> => {
        sent.push(report as HostReport);
        return { status: Number(await respond(report as HostReport)), body: {}, reason: 'refused' };
      },
      close: () => undefined,
    },
    kept,
    watches: { receivedId: '', receive: async () => undefined, listChecks: () => checks },
    heartbeats: undefined,
    commands: undefined,
    hub: 'desk.example',
    log: { info: () => undefined, warn: (_: unknown, text?: unknown) => warnings.push(String(text)) },
    clock: () => new Date(start + 600_000),
  });
  atEnd(t, () => reporter.close());
  reporter.start();
  /** Advances time by one interval and waits for the report. */
  const advance = async () => {
    t.mock.timers.tick(10_000);
    await settle();
  };
  await settle();
  return { kept, sent, warnings, advance };
};

test('a report does not wait for the response of the hub to an earlier report', async (t) => {
  const answers: ((status: number) => void)[] = [];
  const { sent, advance } = await startReporter(t, () =>
    answers.length > 0 ? 503 : new Promise((resolve) => answers.push(resolve)),
  );
  for (let count = 0; count < 5; count += 1) await advance();
  answers[0]?.(503);
  await settle();
  assert.equal(sent.length, 1);
  await advance();
  assert.equal(sent.length, 2);
});

for (const status of [400, 404, 413])
  test(`kept readings that the hub refuses with ${status} are dropped, and reports continue`, async (t) => {
    const { kept, sent, warnings } = await startReporter(t, (report) => (report.kept ? status : 200));
    assert.equal(kept.count, 0);
    assert.deepEqual(
      sent.map((report) => report.kept?.length),
      [3, undefined],
    );
    assert.deepEqual(warnings, ['the hub refused stored readings; the readings are dropped']);
  });

test('kept readings that the hub refuses with 500 twice are dropped, and reports continue', async (t) => {
  const { kept, warnings, advance } = await startReporter(t, (report) => (report.kept ? 500 : 200));
  assert.equal(kept.count, 3);
  await advance();
  assert.equal(kept.count, 0);
  assert.ok(warnings.includes('the hub refused stored readings; the readings are dropped'));
});

for (const status of [0, 401, 403, 429, 503])
  test(`kept readings stay after a response with ${status}`, async (t) => {
    const { kept, sent, advance } = await startReporter(t, () => status);
    await advance();
    assert.ok(kept.count >= 3);
    assert.ok(sent.every((report) => report.kept));
  });

for (const status of [404, 500])
  test(`kept readings stay while the hub refuses all reports with ${status}`, async (t) => {
    const { kept, advance } = await startReporter(t, () => status);
    await advance();
    await advance();
    assert.ok(kept.count >= 3);
  });

test('the texts of 100 results are cut to a length that the hub stores', async (t) => {
  const check: HostCheck = { watch: 'shop', thing: 'https://shop.example', state: 'bad', text: 'x'.repeat(1900) };
  const { sent } = await startReporter(
    t,
    () => 200,
    Array.from({ length: 100 }, () => check),
  );
  assert.equal(sent[0]?.checks?.length, 100);
  assert.ok(JSON.stringify(sent[0]).length < 64 * 1024);
});
