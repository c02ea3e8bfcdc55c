import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ParsedCommand } from '../policy.ts';
import { CommandFailure } from '../runner.ts';
import { createAnswer, type ReadObject, rowMakers } from './answer.ts';
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

test('CPU time is rounded to hundredths of a second', () => {
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

const services: ParsedCommand = { name: 'Get-Service', parameters: {} };

/** Returns the result for lines of output. `taken` counts the lines that were read. */
const read = async (lines: (object | string)[], command: ParsedCommand = services) => {
  const answer = createAnswer('/opt/pwsh', command);
  let taken = 0;
  for (const line of lines) {
    taken += 1;
    const text = typeof line === 'object' ? JSON.stringify(line) : line;
    if (!(await answer.onOutput(Buffer.from(`${text}\n`)))) break;
  }
  return { taken, output: answer.toOutput() };
};

test('objects are collected up to the end marker, and output without one is an error', async () => {
  const rows = [{ row: { Name: 'a' } }, { row: { Name: 'b' } }];
  const { output } = await read([{ command: 'Get-Service' }, ...rows, { end: true }]);
  assert.deepEqual(
    output?.rows.map(({ Name }) => Name),
    ['a', 'b'],
  );
  assert.equal(output?.truncated, false);
  assert.equal((await read(rows)).output, undefined);
  assert.deepEqual((await read([{ end: true }])).output, { rows: [], truncated: false });
});

test('an error message fails the command, even after objects', async () => {
  const lines = [{ command: 'Get-Service' }, { row: {} }, { error: 'Cannot find "x"' }];
  await assert.rejects(read(lines), new CommandFailure('Cannot find "x"'));
});

test('unexpected output fails the command', async () => {
  const failure = new CommandFailure('pwsh wrote unexpected output');
  for (const line of ['', 'WARNING: x', '\u001b[31m{"end":true}', '{', 'null', '5', '[]', '{"command":"x"}']) {
    await assert.rejects(read([line]), failure, line);
  }
});

test('output of PowerShell is read up to its limits', async () => {
  const row = { row: { Name: 'x'.repeat(1000) } };
  const many = await read(Array(6000).fill({ row: {} }));
  assert.deepEqual([many.taken, many.output?.rows.length], [5001, 5001]);
  const large = await read(Array(5000).fill({ row: { Name: 'x'.repeat(10_000) } }));
  assert.ok(large.taken < 850);
  assert.equal(large.output?.truncated, true);
  const { output: tooLong } = await read([row, 'x'.repeat(2 ** 20 + 1), { end: true }]);
  assert.deepEqual([tooLong?.rows.length, tooLong?.truncated], [1, true]);
});

test('events of Get-WinEvent are filtered by the parameters that it does not support', async () => {
  const event = (Id: number, ProviderName: string) => ({
    row: {
      Id,
      Qualifiers: null,
      ProviderName,
      RecordId: 100 + Id,
      TimeCreated: `2026-11-21T00:00:0${Id}.000Z`,
    },
  });
  const lines = [
    { command: 'Get-WinEvent' },
    ...[event(5, 'Abc'), event(4, 'x'), event(3, 'ABD'), event(2, 'abe'), event(1, 'abf')],
    { end: true },
  ];
  const ask = async (parameters: object): Promise<unknown[]> => {
    const all = { LogName: 'System', Newest: 50, ...parameters } as const;
    const { output } = await read(lines, { name: 'Get-EventLog', parameters: all });
    return output?.rows.map(({ EventID }) => EventID) ?? [];
  };
  assert.deepEqual(await ask({}), [5, 4, 3, 2, 1]);
  assert.deepEqual(await ask({ Newest: 2, Source: ['ab*'] }), [5, 3]);
  assert.deepEqual(await ask({ InstanceId: [3, 9], EntryType: ['Information'] }), [3]);
  assert.deepEqual(await ask({ Index: [101, 102], EntryType: ['Error'] }), []);
  assert.deepEqual(await ask({ After: new Date('2026-11-21T00:00:03Z') }), [5, 4]);
  const { taken } = await read(lines, { name: 'Get-EventLog', parameters: { LogName: 'System', Newest: 1 } });
  assert.equal(taken, 2);
});

test('an event without a time is left out only if the request filters by time', async () => {
  const lines = [{ command: 'Get-WinEvent' }, { row: { Id: 1, ProviderName: 'x', TimeCreated: null } }, { end: true }];
  const count = async (times: { After?: Date; Before?: Date }) => {
    const { output } = await read(lines, {
      name: 'Get-EventLog',
      parameters: { LogName: 'System', Newest: 9, ...times },
    });
    return output?.rows.length;
  };
  assert.equal(await count({}), 1);
  assert.equal(await count({ After: new Date(0) }), 0);
  assert.equal(await count({ Before: new Date() }), 0);
});

test('events that do not match the parameters do not count towards the 8 MiB of a result', async () => {
  const message = 'x'.repeat(100_000);
  const other = { row: { ProviderName: 'other', Message: message, TimeCreated: '2026-11-21T00:00:00.000Z' } };
  const wanted = { row: { ...other.row, ProviderName: 'rare' } };
  const lines = [{ command: 'Get-WinEvent' }, ...Array(100).fill(other), wanted, { end: true }];
  const { output } = await read(lines, {
    name: 'Get-EventLog',
    parameters: { LogName: 'System', Newest: 1, Source: ['ra*'] },
  });
  assert.deepEqual([output?.rows.length, output?.truncated], [1, false]);
});
