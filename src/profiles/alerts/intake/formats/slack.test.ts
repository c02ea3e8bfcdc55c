import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samples } from '../../../../../test/support/alert-samples.ts';
import { readAlert } from '../../../../../test/support/formats.ts';
import { slackFormat } from './slack.ts';

test('a message has its text, and the color of its attachment as level', () => {
  assert.deepEqual(readAlert(slackFormat, samples.slack), {
    source: 'slack/deploy',
    level: 'ERROR',
    message: samples.slack.text,
    details: undefined,
    hostname: 'unknown',
    status: 'firing',
    link: 'https://ci.example/7',
  });
  assert.equal(readAlert(slackFormat, { text: 'a', attachments: [{ color: 'good' }] }).level, 'INFO');
  for (const color of ['#36a64f', '__proto__', 'constructor']) {
    assert.equal(readAlert(slackFormat, { text: 'a', attachments: [{ color }] }).level, 'WARNING');
  }
});

test('a message without text has that of its attachments', () => {
  assert.equal(readAlert(slackFormat, { attachments: [{ text: '', fallback: 'b' }, { text: 'c' }] }).message, 'b');
  assert.throws(() => readAlert(slackFormat, { text: ' ', attachments: [{}] }), /^Error: text is required/);
});
