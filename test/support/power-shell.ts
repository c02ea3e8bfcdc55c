import { readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { writeProgram } from './child-programs.ts';

/** A stand-in for PowerShell that records its arguments, input and variables and prints the given messages. */
interface StandIn {
  /** Absolute path. */
  program: string;
  readArguments(): string[];
  readInput(): string;
  /** Names of its environment variables. */
  readVariables(): string[];
}

export const createStandIn = (t: TestContext, messages: readonly object[], ending = ''): StandIn => {
  const keep = `printf '%s\\0' "$@" > "$0.args"; cat > "$0.input"; env > "$0.env"`;
  const lines = messages.map((message) => JSON.stringify(message)).join('\n');
  const program = writeProgram(t, 'stand-in', `${keep}\ncat <<'EOF'\n${lines}\nEOF\n${ending}`);
  const read = (kind: string): string => readFileSync(`${program}.${kind}`, 'utf8');
  return {
    program,
    readArguments: () => read('args').split('\0').slice(0, -1),
    readInput: () => read('input'),
    readVariables: () =>
      read('env')
        .split('\n')
        .slice(0, -1)
        .map((line) => line.replace(/=.*/, '')),
  };
};

/** Texts that would create the file if PowerShell ran them as code. */
export const createHostileTexts = (file: string): string[] => [
  `x';$(New-Item ${file})`,
  `x'';New-Item ${file};''`,
  `'; New-Item ${file}; '`,
  `"; New-Item ${file}; "`,
  `\u2019; New-Item ${file}; \u2018`,
  `\u201d; New-Item ${file}; \u201c`,
  `$(New-Item ${file})`,
  `@(New-Item ${file})`,
  `{ New-Item ${file} }`,
  `& { New-Item ${file} }`,
  `| Out-File ${file}`,
  `> ${file}`,
  `x\nNew-Item ${file}\n`,
  `x\r\nNew-Item ${file}`,
  `x\u2028New-Item ${file}`,
  `x\0New-Item ${file}`,
  `\`$(New-Item ${file})`,
  '-Force',
  '-Module',
  '\u2013Module',
  '--%',
  '@parameters',
  '@args',
  '$env:PATH',
  '#< CLIXML',
  '2026-11-21T11:15:35Z',
  '/Date(0)/',
  '[a-z]*',
  '',
];
