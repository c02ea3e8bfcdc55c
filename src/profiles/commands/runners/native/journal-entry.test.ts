import assert from 'node:assert/strict';
import { test } from 'node:test';
import { journal } from '../../../../../test/support/recorded.ts';
import { readUserNames, toEvent } from './journal-entry.ts';

const users = new Map([['0', 'root']]);
const events = journal.map((entry) => toEvent(entry, users));

test('a recorded entry becomes an event with all its properties', () => {
  assert.deepEqual(events[2], {
    Index: 0x15b,
    TimeGenerated: '2026-11-21T11:15:35.523Z',
    TimeWritten: '2026-11-21T11:15:35.523Z',
    EntryType: 'Error',
    Source: 'demo',
    InstanceId: 0xfc2e22bc,
    EventID: 0x3c2e22bc,
    Category: null,
    Message: 'hello world',
    MachineName: 'vm',
    UserName: 'root',
  });
});

test('a message of bytes is decoded, a missing priority is Information, and a missing identifier is the unit', () => {
  assert.equal(events[1]?.Message, 'esc \u001b[1m bold');
  assert.equal(events[1]?.EntryType, 'Warning');
  const { EntryType, Source, InstanceId, EventID, UserName } = events[0] ?? {};
  assert.deepEqual(
    [EntryType, Source, InstanceId, EventID, UserName],
    ['Information', 'big.service', null, null, '4294967000'],
  );
  assert.equal(events[3]?.Category, 'daemon');
});

test('invalid UTF-8 is replaced, and missing fields are null', () => {
  assert.equal(toEvent({ MESSAGE: [0xff, 65] }, users).Message, '\ufffdA');
  assert.equal(toEvent({ MESSAGE: [[104, 105], 'x'] }, users).Message, 'hi');
  const { EntryType, ...others } = toEvent({ MESSAGE: null, MESSAGE_ID: 'own', SYSLOG_FACILITY: '99' }, users);
  assert.equal(EntryType, 'Information');
  assert.deepEqual(new Set(Object.values(others)), new Set([null]));
});

test('user names are found by uid', async () => {
  assert.equal((await readUserNames()).get('0'), 'root');
});

test('a missing passwd file yields no user names', async () => {
  assert.equal((await readUserNames('/nonexistent')).size, 0);
});
