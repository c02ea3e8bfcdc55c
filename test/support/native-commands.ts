import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after } from 'node:test';
import { Refusal } from '../../src/features/commands/language.ts';
import { createNativeRunner } from '../../src/features/commands/native/runner.ts';
import { checkCommand } from '../../src/features/commands/policy.ts';
import type { OutputRow } from '../../src/features/commands/runner.ts';
import { createHostReadings } from '../../src/host/index.ts';

/** Fixed time in these tests. */
export const now = new Date('2026-01-02T03:04:05.006Z');

export const host = createHostReadings();
after(() => host.close());

/** Runs Get-CimInstance on this machine. `rest` is the rest of the command line. */
export const run = async (rest: string, systemctl: string[] = []): Promise<OutputRow[]> => {
  const paths = { systemctl, journalctl: [], bootMark: '/' };
  const runner = createNativeRunner({ host, clock: () => now, paths });
  const command = checkCommand(`Get-CimInstance ${rest}`);
  assert.ok(!(command instanceof Refusal));
  return (await runner.run(command, new AbortController().signal)).rows;
};

/** Returns the output of a system program, in English. */
export const readOutput = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' } }).trim();

/** Asserts that two figures differ by at most a fraction of the first. */
export const assertNear = (expected: unknown, actual: unknown, part: number): void =>
  assert.ok(Math.abs(Number(expected) - Number(actual)) <= Number(expected) * part, `${expected}, not ${actual}`);
