import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCommand } from '../support/program.ts';

test('check-command prints the parsed command for an allowed line, with exit code 0', async () => {
  const { code, stdout, stderr } = await runCommand(['check-command', 'Get-Process -name x*,y']);
  assert.deepEqual([code, stdout, stderr], [0, 'allowed: Get-Process {"Name":["x*","y"]}\n', '']);
});

test('check-command prints the reason for a refused line, with exit code 1', async () => {
  const { code, stdout, stderr } = await runCommand(['check-command', 'Get-Process -ComputerName x']);
  assert.deepEqual([code, stdout, stderr], [1, 'refused: Parameter "-ComputerName" is not allowed\n', '']);
});

test('check-command accepts one line, in quotes', async () => {
  for (const words of [[], ['Get-Process', 'x']]) {
    const { code, stderr } = await runCommand(['check-command', ...words]);
    assert.deepEqual(
      [code, stderr],
      [2, 'signalbox: check-command takes one LINE, in quotes; see signalbox check-command --help\n'],
    );
  }
});
