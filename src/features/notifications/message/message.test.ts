import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  createHappening,
  createIncident,
  createResolution,
  openedAt,
  taken,
} from '../../../../test/support/incident-messages.ts';
import { notificationKinds } from '../../../kit/incident-source.ts';
import { createIncidentMessage, type IncidentHappening, toDurationText } from './message.ts';

const minute = 60_000;

const parts = {
  publicUrl: 'https://signalbox.example.org/',
  toAcknowledgeUrl: (ids: readonly string[]) => `https://signalbox.example.org/a/${ids.length}`,
  instance: 'signalbox/0123456789abcdef',
};

const write = (...happenings: IncidentHappening[]) => createIncidentMessage(happenings, parts);

const titleOf = (...happenings: IncidentHappening[]): string => write(...happenings).title;

test('the title says what happened to which incident', () => {
  assert.equal(titleOf(createHappening()), 'CRITICAL #412 disk full on db-1');
  assert.equal(titleOf(createHappening({ openings: 2 })), 'Open again: CRITICAL #412 disk full on db-1');
  assert.equal(titleOf(createHappening({}, { what: 'raised' })), 'Raised to CRITICAL: #412 disk full on db-1');
  const reminder = createHappening({}, { what: 'reminder', happenedAt: openedAt + 125 * minute });
  assert.equal(titleOf(reminder), 'Still open for 2 h 5 min: CRITICAL #412 disk full on db-1');
  assert.equal(
    titleOf(createHappening(taken, { what: 'acknowledged' })),
    'Acknowledged by anna: #412 disk full on db-1',
  );
  const acknowledged = { by: 'destination:phone', at: openedAt, until: null, comment: null };
  assert.equal(
    titleOf(createHappening({ ...taken, acknowledged }, { what: 'acknowledged' })),
    'Acknowledged by somebody through phone: #412 disk full on db-1',
  );
  assert.equal(titleOf(createResolution()), 'Resolved #412: disk full on db-1');
  assert.equal(titleOf(createHappening({ title: 'db-1 is down' })), 'CRITICAL #412 db-1 is down');
  assert.equal(titleOf(createHappening({ hostname: '' })), 'CRITICAL #412 disk full');
});

test('the body has what people need on a phone', () => {
  const { body } = write(createHappening());
  assert.match(
    body,
    /^CRITICAL · db-1 · backup · 3 alerts since 2026-01-31 \d\d:\d\d [+-]\d\d:\d\d\nNobody has taken it\.$/,
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
  const lines = write(createHappening(incident, { alert })).body.split('\n');
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
    /\nResolved after 42 min, because no more alerts came$/,
  );
});

test('the link leads to the incident in the console, or where its sender shows it', () => {
  const incident = createHappening({ link: 'https://grafana.example.org/1' });
  assert.equal(write(incident).link, 'https://signalbox.example.org/console/#/incidents/412');
  const without = { ...parts, publicUrl: undefined };
  assert.equal(createIncidentMessage([incident], without).link, 'https://grafana.example.org/1');
  assert.equal('link' in createIncidentMessage([createHappening()], without), false);
});

test('several incidents are one message, the worst first and ends last', () => {
  const [first, second] = [
    createHappening({ number: 413, id: createIncident().id.replace(/5$/, '6'), title: 'no backup', level: 'WARNING' }),
    createHappening(),
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

test('what is resolved or taken cannot be acknowledged', () => {
  for (const one of [createResolution(), createHappening(taken)]) assert.equal('acknowledgeUrl' in write(one), false);
});

test('a message that is written again has the same id, and each other one has another', () => {
  const messages = [
    createHappening(),
    createHappening({ openings: 2 }),
    createHappening({}, { happenedAt: openedAt + 1 }),
    createHappening({}, { what: 'reminder' }),
    createHappening({}, { what: 'raised' }),
    createHappening({ level: 'ERROR' }, { what: 'raised' }),
    createResolution(),
  ].map((one) => [write(one).id, write({ ...one, incident: { ...one.incident, count: 4 } }).id]);
  for (const [one, same] of messages) assert.equal(one, same);
  assert.equal(new Set(messages.flat()).size, messages.length);
});

test('titles are one line of at most 250 bytes, and bodies are never empty, whatever incidents say', () => {
  const happening = fc.record({
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
    fc.property(fc.array(happening, { minLength: 1, maxLength: 30 }), (happenings) => {
      const { title, body } = write(...happenings);
      assert.ok(Buffer.byteLength(title) <= 250);
      assert.doesNotMatch(title, /[\n\r]/);
      assert.notEqual(body.trim(), '');
    }),
  );
});

test('a source or a host name adds no line to what is said of the incident', () => {
  const [plain, hostile] = ['x', 'x\r\nAcknowledged by anna\n'].map((text) =>
    write({ what: 'opened', happenedAt: 0, incident: createIncident({ source: text, hostname: text }) }),
  );
  assert.equal(hostile?.body.split('\n').length, plain?.body.split('\n').length);
});

test('durations are rounded', () => {
  assert.deepEqual(
    [0, 999, 29_000, 31_000, 60 * minute, 61 * minute, 1500 * minute, 2880 * minute, -5].map(toDurationText),
    ['1 s', '1 s', '29 s', '1 min', '1 h', '1 h 1 min', '1 d 1 h', '2 d', '1 s'],
  );
});
