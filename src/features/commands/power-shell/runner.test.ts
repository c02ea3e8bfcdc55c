import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { isRunning, writeProgram } from '../../../../test/support/child-programs.ts';
import { createHostileTexts, powerShell, recordPowerShell } from '../../../../test/support/power-shell.ts';
import { waitUntil } from '../../../../test/support/wait.ts';
import type { ParsedCommand } from '../policy.ts';
import { CommandFailure } from '../runner.ts';
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
  assert.ok(
    own.every((name) => /^(PATH|HOME|LC_ALL|NO_COLOR|RUN_BY_SIGNALBOX|POWERSHELL_|DOTNET_|PSModule)/.test(name)),
  );
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
  // PowerShell itself refuses an empty name. No command line can contain one.
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
