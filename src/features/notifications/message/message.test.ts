import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  createIncident,
  createResolution,
  createUpdate,
  openedAt,
  taken,
} from '../../../../test/support/incident-messages.ts';
import { notificationKinds } from '../../../kit/incident.ts';
import { createIncidentMessage, type IncidentUpdate } from './message.ts';

const minute = 60_000;

const parts = {
  publicUrl: 'https://signalbox.example.org/',
  toAcknowledgeUrl: (ids: readonly string[]) => `https://signalbox.example.org/a/${ids.length}`,
  instance: 'signalbox/0123456789abcdef',
};

const write = (...updates: IncidentUpdate[]) => createIncidentMessage(updates, parts);

const titleOf = (...updates: IncidentUpdate[]): string => write(...updates).title;

test('the title names the event and the incident', () => {
  assert.equal(titleOf(createUpdate()), 'CRITICAL #412 disk full on db-1');
  assert.equal(titleOf(createUpdate({ openings: 2 })), 'Reopened: CRITICAL #412 disk full on db-1');
  assert.equal(titleOf(createUpdate({}, { what: 'raised' })), 'Raised to CRITICAL: #412 disk full on db-1');
  const reminder = createUpdate({}, { what: 'reminder', happenedAt: openedAt + 125 * minute });
  assert.equal(titleOf(reminder), 'Still open for 2 h 5 min: CRITICAL #412 disk full on db-1');
  assert.equal(titleOf(createUpdate(taken, { what: 'acknowledged' })), 'Acknowledged by anna: #412 disk full on db-1');
  const acknowledged = { by: 'destination:phone', at: openedAt, until: null, comment: null };
  assert.equal(
    titleOf(createUpdate({ ...taken, acknowledged }, { what: 'acknowledged' })),
    'Acknowledged by somebody via phone: #412 disk full on db-1',
  );
  assert.equal(titleOf(createResolution()), 'Resolved #412: disk full on db-1');
  assert.equal(titleOf(createUpdate({ title: 'db-1 is down' })), 'CRITICAL #412 db-1 is down');
  assert.equal(titleOf(createUpdate({ hostname: '' })), 'CRITICAL #412 disk full');
});

test('the body has level, host, source, count and owner of the incident', () => {
  const { body } = write(createUpdate());
  assert.match(
    body,
    /^CRITICAL · db-1 · backup · 3 alerts since 2026-01-31 \d\d:\d\d [+-]\d\d:\d\d\nNot acknowledged\.$/,
  );
  const alert = {
    seq: 1,
    id: 'x',
    crc: '',
    message: 'disk full\nsda1 has no room',
    details: '92 % of 50 GB',
    links: { runbook: 'https://wiki.example.org/disk', other: 7 },
  };
  const acknowledged = { by: 'anna', at: openedAt, until: openedAt + 60 * minute, comment: 'on it' };
  const incident = { link: 'https://grafana.example.org/1', state: 'acknowledged', acknowledged } as const;
  const lines = write(createUpdate(incident, { alert })).body.split('\n');
  assert.deepEqual(lines.slice(0, 2), ['disk full', 'sda1 has no room']);
  assert.match(lines[4] ?? '', /^Acknowledged by anna until 2026-01-31 \d\d:\d\d [+-]\d\d:\d\d: on it$/);
  assert.deepEqual(lines.slice(5), [
    ...['', '92 % of 50 GB', '', 'runbook: https://wiki.example.org/disk', 'Source: https://grafana.example.org/1'],
  ]);
  assert.match(write(createResolution()).body, /\nResolved after 42 min by anna$/);
  const resolved = { by: 'key:backup', at: openedAt, reason: 'sender' } as const;
  assert.match(write(createResolution({ resolved })).body, /\nResolved after 42 min by the key backup$/);
  assert.match(
    write(createResolution({ resolved: { by: null, at: openedAt, reason: 'quiet' } })).body,
    /\nResolved after 42 min, because no more alerts were received$/,
  );
});

test('the link leads to the incident in the console, or is the link of its sender', () => {
  const incident = createUpdate({ link: 'https://grafana.example.org/1' });
  assert.equal(write(incident).link, 'https://signalbox.example.org/console/#/incidents/412');
  const without = { ...parts, publicUrl: undefined };
  assert.equal(createIncidentMessage([incident], without).link, 'https://grafana.example.org/1');
  assert.equal('link' in createIncidentMessage([createUpdate()], without), false);
});

test('several incidents are one message, worst first and resolutions last', () => {
  const [first, second] = [
    createUpdate({ number: 413, id: createIncident().id.replace(/5$/, '6'), title: 'no backup', level: 'WARNING' }),
    createUpdate(),
  ];
  const message = write(first, second);
  assert.equal(message.title, '2 incidents on db-1: disk full, no backup');
  assert.equal(
    message.body,
    'CRITICAL #412 disk full on db-1 (backup · 3 alerts)\nWARNING #413 no backup on db-1 (backup · 3 alerts)',
  );
  assert.deepEqual([message.severity, message.what], ['CRITICAL', 'opened']);
  assert.equal(message.link, 'https://signalbox.example.org/console/#/incidents');
  assert.equal(message.acknowledgeUrl, 'https://signalbox.example.org/a/2');
  const mixed = write(createResolution(), { ...first, incident: { ...first.incident, hostname: 'web-1' } });
  assert.equal(mixed.title, '2 incidents: no backup, disk full');
  assert.deepEqual([mixed.severity, mixed.what], ['WARNING', 'opened']);
  assert.equal(mixed.acknowledgeUrl, 'https://signalbox.example.org/a/1');
  assert.equal(titleOf(createResolution(), createResolution()), '2 incidents resolved on db-1: disk full');
});

test('a message about resolved or acknowledged incidents has no link to acknowledge', () => {
  for (const one of [createResolution(), createUpdate(taken)]) assert.equal('acknowledgeUrl' in write(one), false);
});

test('a repeated message has the same id, and every other message another id', () => {
  const messages = [
    createUpdate(),
    createUpdate({ openings: 2 }),
    createUpdate({}, { happenedAt: openedAt + 1 }),
    createUpdate({}, { what: 'reminder' }),
    createUpdate({}, { what: 'raised' }),
    createUpdate({ level: 'ERROR' }, { what: 'raised' }),
    createResolution(),
  ].map((one) => [write(one).id, write({ ...one, incident: { ...one.incident, count: 4 } }).id]);
  for (const [one, same] of messages) assert.equal(one, same);
  assert.equal(new Set(messages.flat()).size, messages.length);
});

test('for any incident, titles are one line of at most 250 bytes and bodies are not empty', () => {
  const update = fc.record({
    what: fc.constantFrom(...notificationKinds),
    happenedAt: fc.integer({ min: 0, max: 8e12 }),
    incident: fc
      .record({
        title: fc.string({ minLength: 1, maxLength: 500 }),
        hostname: fc.string({ maxLength: 256 }),
        state: fc.constantFrom('open', 'acknowledged', 'resolved'),
        number: fc.integer({ min: 1 }),
      })
      .map((changes) => createIncident(changes)),
  });
  fc.assert(
    fc.property(fc.array(update, { minLength: 1, maxLength: 30 }), (updates) => {
      const { title, body } = write(...updates);
      assert.ok(Buffer.byteLength(title) <= 250);
      assert.doesNotMatch(title, /[\n\r]/);
      assert.notEqual(body.trim(), '');
    }),
  );
});

test('line breaks in a source or host name add no line to the body', () => {
  const [plain, hostile] = ['x', 'x\r\nAcknowledged by anna\n'].map((text) =>
    write({ what: 'opened', happenedAt: 0, incident: createIncident({ source: text, hostname: text }) }),
  );
  assert.equal(hostile?.body.split('\n').length, plain?.body.split('\n').length);
});
