import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandFailure } from '../../execution/runner.ts';
import type { ParsedCommand } from '../../policy/policy.ts';
import { createAnswer } from './answer.ts';

const services: ParsedCommand = { name: 'Get-Service', parameters: {} };

/** The result for the given output lines; `taken` counts the lines read. */
const read = (lines: (object | string)[], command: ParsedCommand = services) => {
  const answer = createAnswer('/opt/pwsh', command);
  let taken = 0;
  for (const line of lines) {
    taken += 1;
    const text = typeof line === 'object' ? JSON.stringify(line) : line;
    if (!answer.onOutput(Buffer.from(`${text}\n`))) break;
  }
  return { taken, output: answer.toOutput() };
};

test('objects are collected up to the end marker, and output without one is an error', () => {
  const rows = [{ row: { Name: 'a' } }, { row: { Name: 'b' } }];
  const { output } = read([{ command: 'Get-Service' }, ...rows, { end: true }]);
  assert.deepEqual(
    output?.rows.map(({ Name }) => Name),
    ['a', 'b'],
  );
  assert.equal(output?.truncated, false);
  assert.equal(read(rows).output, undefined);
  assert.deepEqual(read([{ end: true }]).output, { rows: [], truncated: false });
});

test('an error message fails the command, even after objects', () => {
  const lines = [{ command: 'Get-Service' }, { row: {} }, { error: 'Cannot find "x"' }];
  assert.throws(() => read(lines), new CommandFailure('Cannot find "x"'));
});

test('output that is not from the script fails the command', () => {
  const failure = new CommandFailure('pwsh wrote unexpected output');
  for (const line of ['', 'WARNING: x', '\u001b[31m{"end":true}', '{', 'null', '5', '[]', '{"command":"x"}']) {
    assert.throws(() => read([line]), failure, line);
  }
});

test('reading stops at the limits', () => {
  const row = { row: { Name: 'x'.repeat(1000) } };
  const many = read(Array(6000).fill({ row: {} }));
  assert.deepEqual([many.taken, many.output?.rows.length], [5001, 5001]);
  const large = read(Array(5000).fill({ row: { Name: 'x'.repeat(10_000) } }));
  assert.ok(large.taken < 850);
  assert.equal(large.output?.truncated, true);
  const tooLong = read([row, 'x'.repeat(2 ** 20 + 1), { end: true }]).output;
  assert.deepEqual([tooLong?.rows.length, tooLong?.truncated], [1, true]);
});

test('events of Get-WinEvent are filtered by the parameters that it does not support', () => {
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
  const ask = (parameters: object): unknown[] => {
    const all = { LogName: 'System', Newest: 50, ...parameters } as const;
    const { output } = read(lines, { name: 'Get-EventLog', parameters: all });
    return output?.rows.map(({ EventID }) => EventID) ?? [];
  };
  assert.deepEqual(ask({}), [5, 4, 3, 2, 1]);
  assert.deepEqual(ask({ Newest: 2, Source: ['ab*'] }), [5, 3]);
  assert.deepEqual(ask({ InstanceId: [3, 9], EntryType: ['Information'] }), [3]);
  assert.deepEqual(ask({ Index: [101, 102], EntryType: ['Error'] }), []);
  assert.deepEqual(ask({ After: new Date('2026-11-21T00:00:03Z') }), [5, 4]);
  assert.equal(read(lines, { name: 'Get-EventLog', parameters: { LogName: 'System', Newest: 1 } }).taken, 2);
});

test('events that do not match the parameters do not count towards the 8 MiB of a result', () => {
  const message = 'x'.repeat(100_000);
  const other = { row: { ProviderName: 'other', Message: message, TimeCreated: '2026-11-21T00:00:00.000Z' } };
  const wanted = { row: { ...other.row, ProviderName: 'rare' } };
  const lines = [{ command: 'Get-WinEvent' }, ...Array(100).fill(other), wanted, { end: true }];
  const { output } = read(lines, {
    name: 'Get-EventLog',
    parameters: { LogName: 'System', Newest: 1, Source: ['ra*'] },
  });
  assert.deepEqual([output?.rows.length, output?.truncated], [1, false]);
});
