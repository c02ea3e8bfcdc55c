import assert from 'node:assert/strict';
import { test } from 'node:test';
import { disk, listMessages, readRecords, sendAlert } from '../../../../test/support/alerts.ts';
import { startApp, type TestApp } from '../../../../test/support/app.ts';

interface Entry {
  message: string;
  level: string;
  severity: string;
}

const search = async (app: TestApp, query: string): Promise<Entry[]> => {
  const { status, json, text } = await app.request<{ data: Entry[] }>('GET', `/api/alerts/search?${query}`);
  assert.equal(status, 200, text);
  return json.data;
};

const levels = ['WARN', 'emerg', 'err', '', 'purple', 'P1', 'notice'];

/** Starts an app with one alert per level. */
const startWithLevels = async (t: Parameters<typeof startApp>[0]): Promise<TestApp> => {
  const app = await startApp(t);
  for (const level of levels) await sendAlert(app, { ...disk, level, message: `level ${level}` });
  return app;
};

test('search shows the severity of any level next to the level as sent', async (t) => {
  const app = await startWithLevels(t);
  assert.deepEqual((await search(app, '')).map(({ level, severity }) => [level, severity]).toReversed(), [
    ['WARN', 'WARNING'],
    ['emerg', 'CRITICAL'],
    ['err', 'ERROR'],
    ['', 'WARNING'],
    ['purple', 'WARNING'],
    ['P1', 'CRITICAL'],
    ['notice', 'INFO'],
  ]);
});

test('search and histogram accept any name of a severity as a filter', async (t) => {
  const app = await startWithLevels(t);
  for (const [severity, expected] of [
    ['CRITICAL', ['P1', 'emerg']],
    ['fatal', ['P1', 'emerg']],
    ['warn', ['purple', '', 'WARN']],
    ['INFO', ['notice']],
  ] as const) {
    const found = await search(app, `severity=${severity}`);
    assert.deepEqual(
      found.map(({ level }) => level),
      expected,
      severity,
    );
    const { json } = await app.request<{ buckets: { count: number }[] }>(
      'GET',
      `/api/alerts/histogram?buckets=1&severity=${severity}`,
    );
    assert.equal(json.buckets[0]?.count, expected.length, severity);
  }
  for (const route of ['search', 'histogram']) {
    const { status, json } = await app.request('GET', `/api/alerts/${route}?severity=purple`);
    assert.deepEqual(
      [status, json['error']],
      [400, 'severity must be one of CRITICAL, ERROR, WARNING, INFO, or a synonym such as err or warn'],
    );
  }
});

test('the histogram counts by severity', async (t) => {
  const app = await startWithLevels(t);
  const { json } = await app.request<{ buckets: { levels: object }[] }>('GET', '/api/alerts/histogram?buckets=1');
  assert.deepEqual(json.buckets[0]?.levels, { CRITICAL: 2, ERROR: 1, WARNING: 3, INFO: 1 });
});

test('the level filter of the list stays exact', async (t) => {
  const app = await startWithLevels(t);
  assert.deepEqual(await listMessages(app, '?level=warn'), []);
  assert.deepEqual(await listMessages(app, '?level=WARN'), ['level WARN']);
});

test('alerts of Prometheus with the severities crit, emerg and err are stored as CRITICAL and ERROR', async (t) => {
  const app = await startApp(t);
  for (const severity of ['crit', 'emerg', 'err', 'Warn', 'sev1']) {
    const body = [{ labels: { alertname: severity, severity } }];
    assert.equal((await app.request('POST', '/api/v2/alerts', { body })).status, 200);
  }
  const stored = (await readRecords(app)).map(({ level }) => level);
  assert.deepEqual(stored, ['CRITICAL', 'CRITICAL', 'ERROR', 'WARNING', 'CRITICAL']);
});
