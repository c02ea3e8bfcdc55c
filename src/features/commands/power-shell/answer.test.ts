import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ReadObject, rowMakers } from './answer.ts';
import { readProperties } from './script.ts';

const nulls = (cmdlet: keyof typeof readProperties): ReadObject =>
  Object.fromEntries(readProperties[cmdlet].map((path) => [path, null]));

const eventNames = [...readProperties['Get-EventLog']];

test('unknown properties of a process are null, as are sizes that Linux reports as 0', () => {
  const unknown = rowMakers['Get-Process'](nulls('Get-Process'));
  assert.deepEqual(new Set(Object.values(unknown)), new Set([null]));
  const zeros = {
    PagedMemorySize64: 0,
    PrivateMemorySize64: 0,
    HandleCount: 0,
    SessionId: 0,
    Path: '',
    CPU: 0,
  };
  const row = rowMakers['Get-Process']({ ...nulls('Get-Process'), ...zeros });
  const { PagedMemorySize64, PrivateMemorySize64, HandleCount, SessionId, Path, CPU } = row;
  assert.deepEqual(
    [PagedMemorySize64, PrivateMemorySize64, HandleCount, SessionId, Path, CPU],
    [null, null, 0, 0, null, 0],
  );
});

test('processor time is rounded to hundredths of a second', () => {
  assert.equal(rowMakers['Get-Process']({ CPU: 1.23456789 })['CPU'], 1.23);
});

test('properties of a service that only systemd has are null', () => {
  const row = rowMakers['Get-Service']({ ...nulls('Get-Service'), Name: 'spooler' });
  assert.deepEqual(
    [row['Name'], row['SubState'], row['ExitCode'], Object.keys(row).length],
    ['spooler', null, null, 9],
  );
});

test('an event of Get-EventLog keeps its type, and type 0 is Information', () => {
  const make = (EntryType: string) => rowMakers['Get-EventLog']({ ...nulls('Get-EventLog'), EntryType });
  assert.deepEqual(Object.keys(make('0')), eventNames);
  assert.deepEqual(
    ['0', 'Error'].map((type) => make(type)['EntryType']),
    ['Information', 'Error'],
  );
});

test('an event of Get-WinEvent has the properties of an event of Get-EventLog', () => {
  const event = {
    RecordId: 9,
    TimeCreated: '2026-11-21T11:15:35.528Z',
    Level: 4,
    Keywords: -(2 ** 63) + 2 ** 55,
    ProviderName: 'MsiInstaller',
    Id: 1033,
    Qualifiers: 0x4000,
    TaskDisplayName: null,
    Message: 'Done.',
    MachineName: 'pc',
    UserId: 'NT AUTHORITY\\SYSTEM',
  };
  const row = rowMakers['Get-WinEvent'](event);
  assert.deepEqual(Object.keys(row), eventNames);
  assert.deepEqual(Object.values(row), [
    ...[9, '2026-11-21T11:15:35.528Z', '2026-11-21T11:15:35.528Z', 'Information', 'MsiInstaller'],
    ...[0x40000409, 1033, null, 'Done.', 'pc', 'NT AUTHORITY\\SYSTEM'],
  ]);
});

test("an event's level and keywords become the entry type of Get-EventLog", () => {
  const cases: [number | null, number | null, string][] = [
    [0, 0x80000000000000, 'Information'],
    [1, null, 'Error'],
    [2, 0, 'Error'],
    [3, 0, 'Warning'],
    [5, 0, 'Information'],
    [null, null, 'Information'],
    [0, -(2 ** 63) + 2 ** 53, 'SuccessAudit'],
    [0, -(2 ** 63) + 2 ** 52, 'FailureAudit'],
  ];
  for (const [Level, Keywords, type] of cases) {
    assert.equal(rowMakers['Get-WinEvent']({ ...nulls('Get-WinEvent'), Level, Keywords })['EntryType'], type);
  }
});
