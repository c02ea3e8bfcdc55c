import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJournal } from './systemd.ts';

test('journal entries have their time, program and priority, whatever the form of their fields', () => {
  const output = [
    '{"__REALTIME_TIMESTAMP":"1769848200000123","MESSAGE":"it failed","SYSLOG_IDENTIFIER":"demo","PRIORITY":"3","_TRANSPORT":"syslog"}',
    '{"__REALTIME_TIMESTAMP":"1769848201000000","MESSAGE":[98,97,100,7],"_COMM":"demo","_TRANSPORT":"stdout"}',
    '{"__REALTIME_TIMESTAMP":"1769848202000000","MESSAGE":["one","two"],"_TRANSPORT":"kernel","PRIORITY":"6"}',
    '{"__REALTIME_TIMESTAMP":"1769848203000000","MESSAGE":null,"_TRANSPORT":"journal"}',
  ].join('\n');
  const rows = parseJournal(`${output}\n`).map(({ at, ...rest }) => [at.toISOString(), ...Object.values(rest)]);
  assert.deepEqual(rows, [
    ['2026-01-31T08:30:00.000Z', 'demo', 'syslog', 3, 'it failed'],
    ['2026-01-31T08:30:01.000Z', 'demo', 'stdout', null, 'bad\u0007'],
    ['2026-01-31T08:30:02.000Z', 'kernel', 'kernel', 6, 'one'],
    ['2026-01-31T08:30:03.000Z', 'journal', 'journal', null, ''],
  ]);
});

test('journal lines that are not entries are left out', () => {
  assert.deepEqual(parseJournal('-- No entries --\n{"MESSAGE":"no time"}\n{"broken\n\n'), []);
});
