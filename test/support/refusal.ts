import assert from 'node:assert/strict';
import { runProgram } from './program.ts';

/** Runs the program, which must refuse to start, and returns the one line that it says. */
export const refusal = async (
  args: string[],
  code: 1 | 2,
  variables: Record<string, string> = {},
): Promise<string> => {
  const ended = await runProgram(args, { variables });
  assert.equal(ended.code, code, ended.stderr);
  assert.equal(ended.stdout, '');
  assert.match(ended.stderr, /^signalbox: [^\n]+\n$/);
  return ended.stderr.slice('signalbox: '.length, -1);
};
