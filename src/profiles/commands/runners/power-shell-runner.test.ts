import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { isRunning, writeProgram } from '../../../../test/support/child-programs.ts';
import { createHostileTexts, createStandIn } from '../../../../test/support/power-shell.ts';
import { waitUntil } from '../../../../test/support/wait.ts';
import { CommandFailure } from '../execution/runner.ts';
import type { ParsedCommand } from '../policy/policy.ts';
import { readProperties } from './power-shell/objects.ts';
import { toRequest } from './power-shell/request.ts';
import { script } from './power-shell/script.ts';
import { createEnvironment, createPowerShellRunner } from './power-shell-runner.ts';

// A stand-in replaces PowerShell: these tests check what it is sent and how its output is handled.

const signal = new AbortController().signal;
const processes: ParsedCommand = { name: 'Get-Process', parameters: {} };

test('the command is written to standard input, and the objects become rows', async (t) => {
  const row = Object.fromEntries(readProperties['Get-Process'].map((path) => [path, path]));
  const standIn = createStandIn(t, [{ command: 'Get-Process' }, { row }, { end: true }]);
  const command: ParsedCommand = { name: 'Get-Process', parameters: { Name: ['\u00e9*'] } };
  const { rows, truncated } = await createPowerShellRunner(standIn.program).run(command, signal);
  assert.equal(truncated, false);
  assert.deepEqual(rows[0], { ...rows[0], Id: 'Id', ThreadCount: 'Threads.Count', ParentId: 'Parent.Id' });
  assert.equal(standIn.readInput(), toRequest(command));
  const own = standIn.readVariables().filter((name) => !/^(NODE_V8_COVERAGE|PWD|SHLVL|_)$/.test(name));
  assert.ok(own.every((name) => /^(PATH|HOME|LC_ALL|NO_COLOR|POWERSHELL_|DOTNET_|PSModule)/.test(name)));
});

test("no value changes PowerShell's arguments or runs as code", async (t) => {
  const standIn = createStandIn(t, [{ end: true }]);
  const runner = createPowerShellRunner(standIn.program);
  const file = join(dirname(standIn.program), 'made');
  for (const text of createHostileTexts(file)) {
    const command: ParsedCommand = { name: 'Get-Process', parameters: { Name: [text] } };
    assert.deepEqual(await runner.run(command, signal), { rows: [], truncated: false });
    const args = ['-NoLogo', '-NoProfile', '-NonInteractive', '-Command', script];
    assert.deepEqual(standIn.readArguments(), args);
    const [value] = JSON.parse(standIn.readInput()).parameters[0].values;
    assert.equal(value.replaceAll(/`([`[\]])/g, '$1'), `=${text}`);
    assert.ok(!existsSync(file), text);
  }
});

test('an error message from PowerShell fails the command with that message', async (t) => {
  const { program } = createStandIn(t, [{ error: 'Cannot find any service' }]);
  const run = createPowerShellRunner(program).run(processes, signal);
  await assert.rejects(run, new CommandFailure('Cannot find any service'));
});

test('a PowerShell that exits without an answer fails the command with its stderr', async (t) => {
  const { program } = createStandIn(t, [{ command: 'Get-Process' }], 'echo "no ICU" >&2; exit 134');
  const run = createPowerShellRunner(program).run(processes, signal);
  await assert.rejects(run, new CommandFailure('stand-in failed: no ICU'));
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
