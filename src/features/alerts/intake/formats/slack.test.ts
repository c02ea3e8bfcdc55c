import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samples } from '../../../../../test/support/alert-samples.ts';
import { listMessages } from '../../../../../test/support/alerts.ts';
import { startApp } from '../../../../../test/support/app.ts';
import { readAlert } from '../../../../../test/support/formats.ts';
import { slackFormat } from './slack.ts';

test('the message is the text, and the level the color of the attachment', () => {
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

test('without a text, the message is the text of the attachments', () => {
  assert.equal(readAlert(slackFormat, { attachments: [{ text: '', fallback: 'b' }, { text: 'c' }] }).message, 'b');
  assert.throws(
    () => readAlert(slackFormat, { text: ' ', attachments: [{}] }),
    /^Error: text, an attachment with text, or a block with text is required/,
  );
});

const section = { type: 'section', text: { type: 'mrkdwn', text: 'disk is *full*' } };
const rich = {
  type: 'rich_text',
  elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: 'rich' }] }],
};

const table = { type: 'table', rows: [['Disk', 'full'].map((text) => ({ type: 'raw_text', text }))] };

for (const path of ['/api/alert/slack', '/api/alert/auto']) {
  test(`every place of a text is read at ${path}`, async (t) => {
    const app = await startApp(t);
    const bodies: [body: object, message: string][] = [
      [{ attachments: [{ title: 'a title' }] }, 'a title'],
      [{ attachments: [{ pretext: 'a pretext' }] }, 'a pretext'],
      [{ attachments: [{ fields: [{ title: 'Disk', value: 93, short: true }, { value: 'full' }] }] }, 'Disk: 93 full'],
      [{ attachments: [{ blocks: [section] }] }, 'disk is *full*'],
      [{ blocks: [{ type: 'divider' }, section, rich] }, 'disk is *full* rich'],
      [{ attachments: [{ author_name: 'CI', footer: 'build 7' }] }, 'CI'],
      [{ text: 404 }, '404'],
      [{ blocks: [{ type: 'image', image_url: 'https://ci.example/7.png', alt_text: 'a picture' }] }, 'a picture'],
      [{ blocks: [{ type: 'section', fields: [{ type: 'mrkdwn', text: 'a field' }] }] }, 'a field'],
      [{ blocks: [table, { type: 'input', label: { type: 'plain_text', text: 'a label' } }] }, 'Disk full a label'],
    ];
    for (const [body] of bodies) assert.equal((await app.request('POST', path, { body })).status, 200);
    assert.deepEqual(
      await listMessages(app),
      bodies.map(([, message]) => message),
    );
    for (const body of [{ attachments: [{ fields: [7, {}] }] }, { blocks: [7, { type: 'divider' }] }]) {
      const { status, json } = await app.request<{ error: string }>('POST', path, { body });
      assert.deepEqual([status, json.error], [400, 'text, an attachment with text, or a block with text is required']);
    }
  });
}

test('from very many blocks, only about as much text is read as is stored', () => {
  const nest = (depth: number): object[] =>
    Array.from({ length: 10 }, () => (depth === 0 ? { text: 'a word' } : { elements: nest(depth - 1) }));
  const { message } = readAlert(slackFormat, { blocks: nest(4) });
  assert.ok(message.startsWith('a word a word'));
  assert.ok(message.length > 16_384 && message.length < 65_536, `${message.length}`);
});

test('blocks after the first text are ignored', () => {
  const unread = Object.defineProperty({}, 'text', {
    get: () => assert.fail('it is read'),
  });
  const body = { text: 'a', blocks: [unread], attachments: [{ blocks: [unread] }] };
  assert.equal(readAlert(slackFormat, body).message, 'a');
  const blank = Array.from({ length: 100 }, () => ({ elements: Array.from({ length: 100 }, () => ({ text: ' ' })) }));
  assert.equal(readAlert(slackFormat, { blocks: blank, attachments: [{ text: 'b', blocks: [unread] }] }).message, 'b');
});
