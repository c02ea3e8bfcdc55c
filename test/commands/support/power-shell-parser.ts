import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { powerShell } from '../../support/power-shell.ts';

/**
 * Name of a command, followed by names of parameters and lists of values. For a line that is anything else, the reason.
 */
export type PowerShellLine = (string | string[])[] | { reason: string };

/** Yields the parse of each line by PowerShell's own parser, in order. */
export async function* parseWithPowerShell(lines: readonly string[]): AsyncGenerator<PowerShellLine> {
  const engine = spawn(powerShell.program, ['--parse'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const closed = once(engine, 'close');
  engine.stdin.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  for await (const answer of createInterface({ input: engine.stdout })) yield JSON.parse(answer);
  const [code] = await closed;
  if (code !== 0) throw new Error(`PowerShell's engine ended with ${code}`);
}
