import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { pino } from 'pino';
import { samples } from '../../../../test/support/alert-samples.ts';
import { startApp, startRefusal } from '../../../../test/support/app.ts';

const secret = 'only Grafana knows this';
const settings = { intakeSecrets: { grafana: secret } };
const body = JSON.stringify(samples.grafana);

const sign = (text: string, key = secret): string => createHmac('sha256', key).update(text).digest('hex');

const now = () => Math.floor(Date.now() / 1000);

test('with a secret, alerts of Grafana need its signature, also at auto', async (t) => {
  const lines: string[] = [];
  const { request } = await startApp(t, {
    settings,
    log: pino({ level: 'trace' }, { write: (line) => lines.push(line) }),
  });
  for (const path of ['/api/alert/grafana', '/api/alert/auto']) {
    const send = (headers: Record<string, string>) =>
      request('POST', path, { body, headers }).then(({ status }) => status);
    const stamped = (time: number, signed = time) => ({
      'X-Grafana-Alerting-Signature': sign(`${signed}:${body}`),
      'X-Grafana-Alerting-Timestamp': String(time),
    });
    assert.equal(await send({}), 401);
    assert.equal(await send({ 'X-Grafana-Alerting-Signature': 'xyz' }), 401);
    assert.equal(await send({ 'X-Grafana-Alerting-Signature': sign(body, 'another') }), 401);
    assert.equal(await send({ 'X-Grafana-Alerting-Signature': sign(`${body} `) }), 401);
    assert.equal(await send({ 'X-Grafana-Alerting-Signature': sign(body) }), 200);
    assert.equal(await send(stamped(now())), 200);
    assert.equal(await send(stamped(now() - 301)), 401);
    assert.equal(await send(stamped(now() + 310)), 401);
    assert.equal(await send(stamped(now(), now() - 1)), 401);
    assert.equal(await send({ ...stamped(now()), 'X-Grafana-Alerting-Timestamp': 'now' }), 401);
  }
  assert.ok(lines.length > 0);
  assert.ok(!lines.join('').includes(secret));
});

test('other formats, and Grafana without a secret, need no signature', async (t) => {
  const signed = await startApp(t, { settings });
  assert.equal((await signed.request('POST', '/api/alert/slack', { body: samples.slack })).status, 200);
  const open = await startApp(t);
  assert.equal((await open.request('POST', '/api/alert/grafana', { body })).status, 200);
});

test('a secret for a format without signatures stops the start with a message that shows no secret', async (t) => {
  const message = await startRefusal(t, { settings: { intakeSecrets: { slack: secret, grafana: '' } } });
  assert.match(message, /intakeSecrets in \S+ has unknown keys; remove slack/);
  assert.ok(!message.includes(secret));
});
