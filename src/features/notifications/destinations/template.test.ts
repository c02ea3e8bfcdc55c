import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sendAlert } from '../../../../test/support/alerts.ts';
import { startRefusal } from '../../../../test/support/app.ts';
import { createResolution, createUpdate } from '../../../../test/support/incident-messages.ts';
import { startOutbox, waitForRequests } from '../../../../test/support/outbox.ts';
import { startReceiver } from '../../../../test/support/receiver.ts';
import { createIncidentMessage, type IncidentUpdate } from '../message/message.ts';
import { toDestinationDefinition } from './definition.ts';
import { openTransport } from './transport.ts';

type Scope = Parameters<typeof startReceiver>[0];

const parts = {
  publicUrl: 'https://signalbox.example.org',
  toAcknowledgeUrl: () => 'https://signalbox.example.org/api/acknowledge/t0ken',
  instance: 'signalbox/0123456789abcdef',
};

/** Opens a destination with a template. Returns a function that sends messages, and the requests it sent. */
const open = async (t: Scope, settings: object, path = '/send') => {
  const receiver = await startReceiver(t);
  const target = toDestinationDefinition({ name: 'sms', type: 'template', url: `${receiver.url}${path}`, ...settings });
  const transport = await openTransport(target, 1, () => new Date());
  t.after(() => transport.close());
  const tell = async (...updates: IncidentUpdate[]) => {
    assert.equal((await transport.send(createIncidentMessage(updates, parts))).outcome.kind, 'delivered');
    return receiver.requests.at(-1) ?? assert.fail();
  };
  return tell;
};

const tricky = 'a "quoted" \\ back\tslash & <b>100 %</b> é😀';

test('an alert fills in a template of JSON', async (t) => {
  const receiver = await startReceiver(t);
  const body =
    '{"text": "{level} {source}: {message}", "labels": {json labels}, "to": ["{hostname}"], "n": {json number}}';
  const app = await startOutbox(t, [{ name: 'chat', type: 'template', url: `${receiver.url}/x?y=1`, body }]);
  const labels = { team: 'db "1"' };
  await sendAlert(app, { source: 'backup', level: 'error', message: tricky, hostname: 'web-1', labels });
  await waitForRequests(receiver, 1);
  const [request] = receiver.requests;
  assert.ok(request);
  assert.deepEqual([request.method, request.path], ['POST', '/x?y=1']);
  assert.equal(request.headers['content-type'], 'application/json');
  assert.match(String(request.headers['via']), /^signalbox\//);
  assert.deepEqual(JSON.parse(request.body), { text: `ERROR backup: ${tricky}`, labels, to: ['web-1'], n: null });
});

test('a message about incidents fills in the placeholders for which values exist', async (t) => {
  const body =
    '{"event": "{event}", "status": "{status}", "title": "{title}", "labels": {json labels}, "number": {json number}, "ack": "{acknowledgeUrl}", "link": "{link}"}';
  const tell = await open(t, { body, method: 'PUT' });
  const opened = await tell(createUpdate({ labels: { team: 'db "1"' } }));
  assert.equal(opened.method, 'PUT');
  assert.deepEqual(JSON.parse(opened.body), {
    event: 'incident.opened',
    status: 'firing',
    title: 'CRITICAL #412 disk full on db-1',
    labels: { team: 'db "1"' },
    number: 412,
    ack: parts.toAcknowledgeUrl(),
    link: 'https://signalbox.example.org/console/#/incidents/412',
  });
  const resolved = JSON.parse((await tell(createResolution())).body);
  assert.deepEqual([resolved.event, resolved.status, resolved.ack], ['incident.resolved', 'resolved', '']);
});

test('texts are escaped as the content type requires', async (t) => {
  const incident = createUpdate({ title: tricky, hostname: '' });
  const titleOf = (title: string) => `CRITICAL #412 ${title.replaceAll('\t', ' ')}`;
  const send = async (type: string, body: string) =>
    (await (await open(t, { body, headers: { 'Content-Type': type } }))(incident)).body;
  const form = await send('application/x-www-form-urlencoded', 'to=1&text={title}&all={json labels}');
  assert.deepEqual(
    [...new URLSearchParams(form)],
    [
      ['to', '1'],
      ['text', titleOf(tricky)],
      ['all', '{}'],
    ],
  );
  const xml = await send('application/soap+xml; charset=utf-8', '<m a="{title}">{title}</m>');
  assert.doesNotMatch(xml, /<b>/);
  assert.match(xml, /^<m a="CRITICAL #412 a &quot;quoted&quot; \\ back slash &amp; &lt;b&gt;/);
  assert.equal(await send('text/plain', '{title}'), titleOf(tricky));
  assert.deepEqual(JSON.parse(await send('application/vnd.x+json', '["{title}"]')), [titleOf(tricky)]);
});

test('a GET has its texts in the query', async (t) => {
  const tell = await open(t, { method: 'GET' }, '/send?to=1&text={title}&labels={json labels}');
  const request = await tell(createUpdate({ title: tricky, hostname: '', labels: { a: 'b&c' } }));
  assert.deepEqual([request.method, request.body], ['GET', '']);
  const { pathname, searchParams } = new URL(request.path, 'http://h');
  assert.equal(pathname, '/send');
  assert.deepEqual(Object.fromEntries(searchParams), {
    to: '1',
    text: `CRITICAL #412 ${tricky.replaceAll('\t', ' ')}`,
    labels: '{"a":"b&c"}',
  });
});

test('headers are filled in, and no text adds a header', async (t) => {
  const headers = { Title: '{title}', Priority: '{level}', 'X-Source': 'of {source}' };
  process.env['TEMPLATE_KEY'] = 'Basic {title}';
  t.after(() => delete process.env['TEMPLATE_KEY']);
  const tell = await open(t, {
    body: '{message}',
    headers: { ...headers, Authorization: { variable: 'TEMPLATE_KEY' } },
  });
  const request = await tell(createUpdate({ title: 'é', source: 'a\r\nX-Evil: b', hostname: '' }));
  const { title, priority, authorization } = request.headers;
  assert.equal(title, `=?UTF-8?B?${Buffer.from('CRITICAL #412 é').toString('base64')}?=`);
  assert.deepEqual([priority, request.headers['x-source']], ['CRITICAL', 'of a X-Evil: b']);
  assert.equal(request.headers['x-evil'], undefined);
  assert.equal(authorization, 'Basic {title}');
});

test('JSON is valid for any text of an incident', async (t) => {
  const tell = await open(t, { body: '{"a": "{title} {message}", "b": {json source}, "c": [{json labels}]}' });
  const texts = fc.string({ unit: 'binary', maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(texts, texts, fc.dictionary(texts, texts, { maxKeys: 3 }), async (title, source, labels) => {
      const { body } = await tell(createUpdate({ title, source, labels }));
      assert.equal(JSON.parse(body).b, source);
    }),
    { numRuns: 50 },
  );
});

test('an invalid template is refused on startup with instructions', async (t) => {
  const json = 'http://h/x';
  const cases: [settings: object, problem: RegExp][] = [
    [{}, /type template needs body/],
    [{ body: '{"text": "{mesage}"}' }, /\{mesage\} is not a placeholder; use message, title/],
    [
      { body: '{"text": {message}}' },
      /body is not valid JSON after its placeholders are filled in: write "\{message\}" with quotes/,
    ],
    [{ body: '{"labels": "{json labels}"}' }, /body is not valid JSON/],
    [{ body: '{"text": "{message}"' }, /body is not valid JSON/],
    [{ body: '{json labels}', secret: 'x' }, /has no secret/],
    [{ method: 'GET', body: 'x' }, /GET has no body/],
    [{ body: 'x', headers: { Title: '{titel}' } }, /\{titel\} is not a placeholder/],
    [{ body: 'x', url: 'http://h/{title}' }, /placeholders only after the \?/],
    [{ body: 'x', url: 'http://h/?a={nothing}' }, /\{nothing\} is not a placeholder/],
    [{ body: 'x', headers: { 'Content-Length': '1' } }, /content-length is set by signalbox/],
    [{ type: 'ntfy', body: 'x' }, /type ntfy has no setting body; remove body/],
    [{ body: 'x', method: 'DELETE' }, /method/],
  ];
  for (const [settings, problem] of cases) {
    const destination = { name: 'sms', type: 'template', url: json, ...settings };
    assert.match(await startRefusal(t, { settings: { destinations: [destination] } }), problem);
  }
});

const manyLabels = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`label-${index}`, 'é"'.repeat(100)]));

test('many long labels in a query or a header stay below the limits of servers, and JSON stays whole', async (t) => {
  const tell = await open(
    t,
    { method: 'GET', headers: { 'X-Labels': '{labels}', 'X-Json': '{json labels}' } },
    '/send?labels={json labels}&plain={labels}&text={message}',
  );
  const { path, headers } = await tell(createUpdate({ labels: { ...manyLabels, z: 'last' } }));
  const { searchParams } = new URL(path, 'http://h');
  const labels = JSON.parse(searchParams.get('labels') ?? '');
  assert.equal(labels['label-0'], manyLabels['label-0']);
  assert.equal(labels.z, 'last');
  assert.ok(path.length < 8192, `${path.length}`);
  assert.ok(Object.values(headers).join('').length < 8192);
});

test('XML, headers and titles contain no characters that are invalid in XML 1.0 or in a line', async (t) => {
  const title = 'a\u0000b\u0085c\uffffd\u{1fffe}e\u202ef\u2028g\u001bh';
  const incident = createUpdate({ title, hostname: '', source: `x\u0000\ufffe` });
  const xml = await open(t, { body: '<m>{title} {source} {message}</m>', headers: { 'Content-Type': 'text/xml' } });
  const { body } = await xml(incident);
  assert.match(body, /^<m>CRITICAL #412 a b c d e f g h x /);
  assert.match(body, /^[\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u);
  const header = await open(t, { body: 'x', headers: { 'X-Title': '{title}', 'X-Source': '{source}' } });
  const { headers } = await header(incident);
  assert.deepEqual([headers['x-title'], headers['x-source']], ['CRITICAL #412 a b c d e f g h', 'x']);
});
