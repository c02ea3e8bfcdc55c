import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { startApp } from '../../../test/support/app.ts';
import { toTrace } from './traceparent.ts';

const valid = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

test('a valid traceparent is kept, and anything else is left out', () => {
  assert.deepEqual(toTrace({ traceparent: valid }), { traceparent: valid });
  for (const traceparent of [
    ...['', 'x', valid.toUpperCase(), `${valid} `, `ff${valid.slice(2)}`, `${valid}\n`, valid.slice(1)],
    ...[valid.replace('4bf92f3577b34da6a3ce929d0e0e4736', '0'.repeat(32)), `${valid}, ${valid}`],
  ]) {
    assert.deepEqual(toTrace({ traceparent }), {}, traceparent);
  }
});

test('the log line of a request has its traceparent', async (t) => {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'debug' }, { write: (line) => lines.push(JSON.parse(line)) });
  const { request } = await startApp(t, { log });
  await request('GET', '/api/tasks', { headers: { traceparent: valid } });
  await request('GET', '/api/tasks', { headers: { traceparent: 'forged\tline' } });
  const logged = lines.filter(({ msg }) => msg === 'request').map(({ traceparent }) => traceparent);
  assert.deepEqual(logged, [valid, undefined]);
});
