import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { isRunning, writeProgram } from '../../../../test/support/child-programs.ts';
import { createHostileTexts, powerShell, recordPowerShell } from '../../../../test/support/power-shell.ts';
import { waitUntil } from '../../../../test/support/wait.ts';
import type { ParsedCommand } from '../policy.ts';
import { CommandFailure } from '../runner.ts';
import { createAnswer } from './answer.ts';
import { toShellRequest } from './request.ts';
import { createEnvironment, createPowerShellRunner } from './runner.ts';
import { script } from './script.ts';

const { skip } = powerShell;
const signal = new AbortController().signal;
const processes: ParsedCommand = { name: 'Get-Process', parameters: {} };
const lookUp = (...Name: string[]): ParsedCommand => ({ name: 'Get-Process', parameters: { Name } });

test('PowerShell gets the command on standard input and no variables of the server', { skip }, async (t) => {
  const recorded = recordPowerShell(t);
  const command = lookUp('no-such-process-*');
  assert.deepEqual(await createPowerShellRunner(recorded.program).run(command, signal), { rows: [], truncated: false });
  assert.equal(recorded.readInput(), toShellRequest(command));
  const own = recorded.readVariables().filter((name) => !/^(NODE_V8_COVERAGE|PWD|SHLVL|_)$/.test(name));
  assert.ok(own.every((name) => /^(PATH|HOME|LC_ALL|NO_COLOR|POWERSHELL_|DOTNET_|PSModule)/.test(name)));
});

test("no value changes PowerShell's arguments or runs as code", { skip }, async (t) => {
  const recorded = recordPowerShell(t, 'Get-Service');
  const runner = createPowerShellRunner(recorded.program);
  const file = join(dirname(recorded.program), 'made');
  const texts = createHostileTexts(file);
  const { rows } = await runner.run({ name: 'Get-Service', parameters: { Name: texts } }, signal);
  // The stand-in for Get-Service returns its parameters in DisplayName.
  assert.equal(String(rows[0]?.['DisplayName']).replaceAll(/`([`[\]])/g, '$1'), `Name: String[] ${texts.join(', ')}`);
  const args = ['-NoLogo', '-NoProfile', '-NonInteractive', '-Command', script];
  assert.deepEqual(recorded.readArguments(), args);
  // PowerShell itself refuses an empty name, which no command line can contain.
  await assert.rejects(
    runner.run(lookUp(...texts.filter(Boolean)), signal),
    /^Error: Cannot find a process with the name "x';\$\(New-/,
  );
  assert.deepEqual(recorded.readArguments(), args);
  assert.ok(!existsSync(file));
});

test("a failed lookup has PowerShell's own message, with the name as sent", { skip }, async () => {
  for (const name of ['2026-11-21T11:15:35Z', '\u00e9\u20ac\u{1f600}']) {
    const run = createPowerShellRunner(powerShell.program).run(lookUp(name), signal);
    const failure = `Cannot find a process with the name "${name}". Verify the process name and call the cmdlet again.`;
    await assert.rejects(run, new CommandFailure(failure));
  }
});

test('a PowerShell that exits without an answer fails the command with its stderr', { skip }, async (t) => {
  const program = writeProgram(t, 'pwsh', `exec '${powerShell.program}' -Command "$@"`);
  const run = createPowerShellRunner(program).run(processes, signal);
  const failure = "pwsh failed: pwsh: these are not the arguments of the server's runner";
  await assert.rejects(run, new CommandFailure(failure));
});

test('an abort ends PowerShell and its children even if they ignore TERM', async (t) => {
  const program = writeProgram(
    t,
    'stubborn',
    `trap '' TERM; sleep 300 & echo "$$ $!" > "$0.new"; mv "$0.new" "$0.pids"; wait`,
  );
  const controller = new AbortController();
  const rejected = assert.rejects(createPowerShellRunner(program).run(processes, controller.signal), /^Error: enough$/);
  await waitUntil('the processes run', () => existsSync(`${program}.pids`));
  const pids = readFileSync(`${program}.pids`, 'utf8').split(' ').map(Number);
  assert.deepEqual(pids.map(isRunning), [true, true]);
  controller.abort(new Error('enough'));
  await rejected;
  await waitUntil('the processes have ended', () => !pids.some(isRunning));
});

test('on Windows an abort ends PowerShell even if taskkill is missing', async (t) => {
  const program = writeProgram(t, 'slow', 'exec sleep 300');
  const controller = new AbortController();
  const run = createPowerShellRunner(program, 'win32').run(processes, controller.signal);
  controller.abort(new Error('enough'));
  await assert.rejects(run, /^Error: enough$/);
});

test('PowerShell inherits no server variable except HOME, and sends no telemetry', () => {
  const { HOME, PATH, ...others } = createEnvironment('linux');
  assert.match(String(HOME), /^\//);
  assert.equal(PATH, '/usr/bin:/bin');
  assert.equal(others['POWERSHELL_TELEMETRY_OPTOUT'], '1');
  assert.equal(others['PSModuleAnalysisCachePath'], '/dev/null');
});

test('on Windows the environment does not set PATH and HOME', () => {
  const environment = createEnvironment('win32');
  assert.deepEqual([environment['PATH'], environment['HOME']], [undefined, undefined]);
  assert.equal(environment['PSModuleAnalysisCachePath'], 'nul');
});

const services: ParsedCommand = { name: 'Get-Service', parameters: {} };

/** Returns the result for output lines; `taken` counts the lines that were read. */
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

test('an event without a time is left out only if a time is asked for', async () => {
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
