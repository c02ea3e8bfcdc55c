import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createHostileTexts } from '../../../../../test/support/power-shell.ts';
import { waitUntil } from '../../../../../test/support/wait.ts';
import { createHostReadings } from '../../../../host/index.ts';
import { listPowerShellPaths } from '../../../../host/power-shell.ts';
import { findProgram } from '../../../../host/programs.ts';
import { CommandFailure } from '../../execution/runner.ts';
import type { ParsedCommand } from '../../policy/policy.ts';
import { createNativeRunner } from '../native-runner.ts';
import { createPowerShellRunner } from '../power-shell-runner.ts';

// These tests need a real PowerShell: the one in this variable, or one in a well-known place.
const { SIGNALBOX_TEST_PWSH: path } = process.env;
const program = await findProgram(path ? [path] : listPowerShellPaths());
const skip = program === null && 'no PowerShell is installed here';
const runner = createPowerShellRunner(String(program));

const host = createHostReadings();
after(() => host.close());

const signal = AbortSignal.timeout(300_000);
const self: ParsedCommand = { name: 'Get-Process', parameters: { Id: [process.pid] } };
const lookUp = (...Name: string[]): ParsedCommand => ({ name: 'Get-Process', parameters: { Name } });

/** Ids of the processes that run the program. */
const listPowerShells = (): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(`${program}\0`);
    } catch {
      return false;
    }
  });

test('PowerShell gives a process the same properties and types as the native runner', {
  skip,
}, async () => {
  const native = createNativeRunner({ host, clock: () => new Date() });
  const [ours] = (await native.run(self, signal)).rows;
  const [theirs] = (await runner.run(self, signal)).rows;
  assert.ok(ours && theirs);
  assert.deepEqual(Object.keys(theirs), Object.keys(ours));
  for (const [name, value] of Object.entries(theirs)) {
    if (value !== null && ours[name] !== null) assert.equal(typeof value, typeof ours[name], name);
  }
  const { Id, ProcessName, SessionId, ParentId, Path } = ours;
  assert.deepEqual({ ...theirs, Id, ProcessName, SessionId, ParentId, Path }, theirs);
  assert.match(String(theirs['StartTime']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('all processes are listed, and wildcards choose among them', { skip }, async () => {
  const all = await runner.run({ name: 'Get-Process', parameters: {} }, signal);
  assert.ok(all.rows.some(({ Id }) => Id === process.pid));
  assert.equal(all.truncated, false);
  assert.deepEqual((await runner.run(lookUp('no-such-process-*'), signal)).rows, []);
});

test("a failed lookup has PowerShell's own message, with the name as sent", { skip }, async () => {
  for (const name of ['nosuch', '2026-11-21T11:15:35Z', '\u00e9\u20ac\u{1f600}']) {
    const failure = `Cannot find a process with the name "${name}". Verify the process name and call the cmdlet again.`;
    await assert.rejects(runner.run(lookUp(name), signal), new CommandFailure(failure));
  }
});

test('a missing cmdlet is named in the error', { skip }, async () => {
  if (process.platform === 'win32') return;
  const commands: ParsedCommand[] = [
    { name: 'Get-Service', parameters: {} },
    { name: 'Get-EventLog', parameters: { LogName: 'System', Newest: 1, After: new Date(0) } },
    { name: 'Get-CimInstance', parameters: { ClassName: 'Win32_Process' } },
  ];
  for (const command of commands) {
    const form = new RegExp(`^Error: ${command.name} is not available in PowerShell \\d`);
    await assert.rejects(runner.run(command, signal), form);
  }
});

test('a hostile value is never run as code', { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-commands-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'made');
  for (const text of createHostileTexts(file)) {
    const found = await runner.run(lookUp(text), signal).catch((error: unknown) => error);
    if (!(found instanceof CommandFailure)) assert.deepEqual(found, { rows: [], truncated: false }, text);
    assert.ok(!existsSync(file), text);
  }
});

test('no PowerShell process remains after a command or an abort', { skip }, async () => {
  await runner.run(self, signal);
  assert.deepEqual(listPowerShells(), []);
  const controller = new AbortController();
  const rejected = assert.rejects(runner.run(self, controller.signal), /^Error: enough$/);
  await waitUntil('PowerShell runs', () => listPowerShells().length > 0);
  controller.abort(new Error('enough'));
  await rejected;
  await waitUntil('PowerShell has ended', () => listPowerShells().length === 0);
});
