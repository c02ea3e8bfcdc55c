import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requires } from '../../../test/lab/faults/support/requirements.ts';
import { disk, sendAlert } from '../../../test/support/alerts.ts';
import { startApp, type TestApp } from '../../../test/support/app.ts';
import { startOutbox, toDestination, waitUntilIdle } from '../../../test/support/outbox.ts';
import { runPromtool } from '../../../test/support/prometheus.ts';
import { answer, startReceiver } from '../../../test/support/receiver.ts';
import { createAccessKey } from '../../auth/access.ts';
import type { Feature } from '../../kit/feature.ts';
import { features } from '../index.ts';

/** Returns the value of the line that begins with the given name and labels. */
const readValue = (text: string, start: string): number | undefined => {
  const line = text.split('\n').find((each) => each.startsWith(`${start} `));
  return line === undefined ? undefined : Number(line.slice(start.length));
};

const scrape = async ({ request }: TestApp): Promise<string> => (await request('GET', '/metrics')).text;

const names = [
  'signalbox_build_info',
  'process_cpu_seconds_total',
  'process_resident_memory_bytes',
  'process_start_time_seconds',
  'process_open_fds',
  'signalbox_event_loop_delay_seconds_bucket',
  'signalbox_host_cpu_seconds_total',
  'signalbox_host_memory_size_bytes',
  'signalbox_host_memory_available_bytes',
  'signalbox_host_filesystem_size_bytes',
  'signalbox_host_filesystem_used_bytes',
  'signalbox_host_filesystem_available_bytes',
  'signalbox_host_boot_time_seconds',
  'signalbox_host_processes',
  'http_request_duration_seconds_bucket',
  'signalbox_requests_shed_total',
  'signalbox_journal_appends_total',
  'signalbox_journal_errors_total',
  'signalbox_journal_fsync_duration_seconds_bucket',
  'signalbox_journal_queue_records',
  'signalbox_journal_writable',
  'signalbox_alerts_received_total',
  'signalbox_alerts_invalid_total',
  'signalbox_alerts_repeated_total',
  'signalbox_logins_total',
  'signalbox_commands_total',
];

test('/metrics has every documented name with values', { skip: process.platform !== 'linux' }, async (t) => {
  const app = await startApp(t);
  await app.request('POST', '/api/alert', { body: { message: 'a' } });
  const { status, headers, text } = await app.request('GET', '/metrics');
  assert.equal(status, 200);
  assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
  for (const name of names) assert.match(text, new RegExp(`^${name}(\\{.*\\})? \\d`, 'm'), name);
});

test('promtool finds no problems in /metrics', requires({ programs: ['promtool'] }), async (t) => {
  const app = await startApp(t);
  await app.request('POST', '/api/alert', { body: { message: 'a' } });
  await app.login('admin');
  assert.deepEqual(await runPromtool(['check', 'metrics'], await scrape(app)), { code: 0, output: '' });
});

test('a meter that fails is left out of the scrape', async (t) => {
  const failing: Feature = {
    name: 'failing',
    profiles: [],
    settings: {},
    isOn: () => true,
    create: ({ meters }) => {
      const fail = () => {
        throw new Error('EMFILE');
      };
      meters.reading('gauge', 'failing_at_once', 'Fails.', fail);
      meters.reading('gauge', 'failing_later', 'Fails.', async () => fail());
      return { profiles: {} };
    },
  };
  const app = await startApp(t, { features: [...features, failing] });
  const { status, text } = await app.request('GET', '/metrics');
  assert.equal(status, 200);
  assert.doesNotMatch(text, /^failing/m);
  assert.match(text, /^signalbox_build_info/m);
});

test('responses, including refusals, are timed by route pattern and status', async (t) => {
  const app = await startApp(t);
  for (const path of ['/api/tasks/17', '/api/tasks/18', '/api/items', '/nope', '/api/tasks?limit=x']) {
    await app.request('GET', path);
  }
  await app.request('HEAD', '/api/tasks');
  await app.request('POST', '/api/tasks', { body: '{' });
  const text = await scrape(app);
  for (const [method, route, status, count] of [
    ['GET', '/api/tasks/:id', 404, 2],
    ['GET', '/api/items', 401, 1],
    ['GET', 'none', 404, 1],
    ['GET', '/api/tasks', 400, 1],
    ['HEAD', '/api/tasks', 200, 1],
    ['POST', '/api/tasks', 400, 1],
  ] as const) {
    const labels = `{method="${method}",route="${route}",status_code="${status}"}`;
    assert.equal(readValue(text, `http_request_duration_seconds_count${labels}`), count, labels);
  }
  assert.doesNotMatch(text, /tasks\/1[78]|nope/);
});

test('the buckets of a histogram are cumulative and end at its count', async (t) => {
  const app = await startApp(t);
  for (let index = 0; index < 20; index += 1) await app.request('GET', '/api/tasks');
  const text = await scrape(app);
  const line =
    /^http_request_duration_seconds_bucket\{method="GET",route="\/api\/tasks",status_code="200",le="(.+)"\} (\d+)$/gm;
  const buckets = [...text.matchAll(line)];
  const counts = buckets.map(([, , count]) => Number(count));
  assert.equal(buckets.at(-1)?.[1], '+Inf');
  assert.equal(counts.at(-1), 20);
  assert.deepEqual(
    counts,
    counts.toSorted((a, b) => a - b),
  );
});

test('alerts, logins and commands are counted by result', async (t) => {
  const app = await startApp(t);
  for (const level of ['CRITICAL', 'Warn', '', 'purple', 'x"\n\\']) {
    await app.request('POST', '/api/alert', { body: { message: 'a', level } });
  }
  for (const body of ['{', {}, { message: 1 }]) await app.request('POST', '/api/alert', { body });
  const token = await app.login('admin');
  await app.request('POST', '/api/auth/login', { body: { Username: 'admin', Password: 'wrong' } });
  await app.request('POST', '/api/execute', { token, body: { command: 'Remove-Item x' } });
  await app.request('POST', '/api/alert/grafana', { body: '{' });
  const text = await scrape(app);
  const received = (level: string) => `signalbox_alerts_received_total{format="native",level="${level}"}`;
  assert.deepEqual(
    ['critical', 'error', 'warning', 'info'].map((level) => readValue(text, received(level))),
    [1, 0, 4, 0],
  );
  const invalid = (format: string) => readValue(text, `signalbox_alerts_invalid_total{format="${format}"}`);
  assert.deepEqual(['native', 'grafana', 'pagerduty'].map(invalid), [3, 1, 0]);
  assert.equal(readValue(text, 'signalbox_logins_total{result="accepted"}'), 1);
  assert.equal(readValue(text, 'signalbox_logins_total{result="refused"}'), 1);
  assert.equal(readValue(text, 'signalbox_commands_total{result="refused"}'), 1);
  assert.equal(readValue(text, 'signalbox_journal_appends_total{journal="alerts"}'), 5);
  assert.equal(readValue(text, 'signalbox_journal_writable{journal="alerts"}'), 1);
});

test('an alert with a known Idempotency-Key counts as repeated, not as received', async (t) => {
  const app = await startApp(t);
  const send = (message: string) =>
    app.request('POST', '/api/alert', { body: { message }, headers: { 'idempotency-key': 'one' } });
  assert.deepEqual([(await send('a')).status, (await send('a')).status, (await send('b')).status], [200, 200, 422]);
  const text = await scrape(app);
  assert.equal(readValue(text, 'signalbox_alerts_received_total{format="native",level="warning"}'), 1);
  assert.equal(readValue(text, 'signalbox_alerts_repeated_total{format="native"}'), 1);
});

test('deliveries are counted by destination and result, with pending and given-up alerts', async (t) => {
  const [willing, refusing] = [await startReceiver(t), await startReceiver(t, answer(400))];
  const app = await startOutbox(t, [toDestination(willing, { name: 'a' }), toDestination(refusing, { name: 'b' })]);
  await sendAlert(app, disk);
  await waitUntilIdle(app, 'a');
  await waitUntilIdle(app, 'b');
  const text = await scrape(app);
  assert.equal(readValue(text, 'signalbox_deliveries_total{destination="a",result="delivered"}'), 1);
  assert.equal(readValue(text, 'signalbox_deliveries_total{destination="b",result="refused"}'), 1);
  assert.equal(readValue(text, 'signalbox_delivery_parked_alerts{destination="a"}'), 0);
  assert.equal(readValue(text, 'signalbox_delivery_parked_alerts{destination="b"}'), 1);
  for (const name of ['a', 'b']) {
    assert.equal(readValue(text, `signalbox_delivery_lag_alerts{destination="${name}"}`), 0);
    assert.equal(readValue(text, `signalbox_delivery_oldest_pending_seconds{destination="${name}"}`), 0);
  }
});

test('requests refused because of too many connections are counted', async (t) => {
  const app = await startApp(t, { settings: { maxConnections: 1 } });
  const [first, second] = await Promise.all(['/api/tasks', '/api/tasks'].map((path) => app.request('GET', path)));
  assert.deepEqual([first?.status, second?.status].toSorted(), [200, 503]);
  assert.equal(readValue(await scrape(app), 'signalbox_requests_shed_total{reason="connections"}'), 1);
});

test('metricsAuth bearer requires a token or a key with metrics:read for /metrics', async (t) => {
  const scraper = createAccessKey('scraper', ['metrics:read']);
  const sender = createAccessKey('sender', ['alerts:write']);
  const settings = { metricsAuth: 'bearer', keys: [scraper.entry, sender.entry] };
  const app = await startApp(t, { settings });
  const statusWith = async (token?: string) => (await app.request('GET', '/metrics', { token })).status;
  assert.equal(await statusWith(), 401);
  assert.equal(await statusWith(sender.key), 403);
  assert.equal(await statusWith(scraper.key), 200);
  assert.equal(await statusWith(await app.login('reader')), 200);
  for (const path of ['/livez', '/readyz']) assert.equal((await app.request('GET', path)).status, 200);
});

test('/livez and /readyz answer like /health and /ready', async (t) => {
  const { request } = await startApp(t);
  const [live, health] = await Promise.all(['/livez', '/health'].map((path) => request('GET', path)));
  assert.deepEqual(Object.keys(live?.json ?? {}), Object.keys(health?.json ?? {}));
  assert.deepEqual((await request('GET', '/readyz')).json, (await request('GET', '/ready')).json);
});
