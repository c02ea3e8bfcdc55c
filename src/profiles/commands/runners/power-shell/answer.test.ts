import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandFailure } from '../../execution/runner.ts';
import type { ParsedCommand } from '../../policy/policy.ts';
import { createAnswer } from './answer.ts';

const services: ParsedCommand = { name: 'Get-Service', parameters: {} };

/** The result for the given output lines; `taken` counts the lines read. */
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

test('output that is not from the script fails the command', async () => {
  const failure = new CommandFailure('pwsh wrote unexpected output');
  for (const line of ['', 'WARNING: x', '\u001b[31m{"end":true}', '{', 'null', '5', '[]', '{"command":"x"}']) {
    await assert.rejects(read([line]), failure, line);
  }
});

test('reading stops at the limits', async () => {
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
