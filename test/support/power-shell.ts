import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/server/package-info.ts';
import { requires } from '../lab/faults/support/requirements.ts';
import { writeProgram } from './child-programs.ts';
import type { Scope } from './scope.ts';

const engine = join(packageRoot, 'dist', 'power-shell', 'pwsh');

/** Errors of NuGet and the SDK that mean that a requirement is missing. */
const obstacles = [
  [/\bNU1301\b/, 'NuGet cannot be reached'],
  [/\bNETSDK1045\b/, 'the .NET 10 SDK is not installed'],
] as const;

/**
 * Builds the engine unless it is current. Returns the reason if it cannot be built on this machine. In CI, that is a
 * failure.
 */
const buildEngine = async (): Promise<string | false> => {
  if (process.platform === 'win32') return 'the program is a shell script';
  const { skip } = requires({ programs: ['dotnet'] });
  if (skip) return skip;
  try {
    await promisify(execFile)(process.execPath, [join(packageRoot, 'test', 'power-shell', 'build.mjs')], {
      // The coverage of scripts is not measured.
      env: { ...process.env, NODE_V8_COVERAGE: '' },
    });
    return false;
  } catch (error) {
    const [, reason] = obstacles.find(([form]) => form.test(String(error))) ?? [];
    if (reason === undefined || process.env['CI'] === 'true') throw error;
    return reason;
  }
};

/**
 * PowerShell 7.6 engine as a program that is called like pwsh (see test/power-shell), or the reason why it is missing.
 */
export const powerShell = { program: engine, skip: await buildEngine() };

interface RecordedPowerShell {
  /** Absolute path. */
  program: string;
  readArguments(): string[];
  readInput(): string;
  /** Returns the names of the engine's environment variables. */
  readVariables(): string[];
}

/**
 * Wraps the engine in a script that records its arguments, input and variables, and has cmdlets that exist only on
 * Windows.
 */
export const recordPowerShell = (t: Scope, ...windowsOnly: string[]): RecordedPowerShell => {
  const record = `printf '%s\\0' "$@" > "$0.args"; env > "$0.env"; tee "$0.input"`;
  const flags = windowsOnly.length > 0 ? `--windows ${windowsOnly.join(',')}` : '';
  const program = writeProgram(t, 'pwsh', `${record} | '${engine}' ${flags} "$@"`);
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

/** Creates strings that would create the file if PowerShell ran them as code. */
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
