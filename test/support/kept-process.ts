import { writeSync } from 'node:fs';
import { Readable } from 'node:stream';
import { run } from '../../src/cli/run.ts';
import { type CommandLine, endMark } from './kept-program.ts';

/** Runs a command line as a separate process would, and reports its exit code. */
const runOne = async ({ args, variables, cwd, input }: CommandLine): Promise<void> => {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, variables);
  process.chdir(cwd);
  process.exitCode = undefined;
  // Removes signal handlers. A separate process would have taken them with it.
  for (const name of process.eventNames()) if (/^SIG/.test(String(name))) process.removeAllListeners(name);
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(input)]), configurable: true });
  const code = (await run(args)) ?? process.exitCode ?? 0;
  process.send?.(code);
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error').write(endMark);
};

// Each command line adds listeners as if no other command line existed.
for (const stream of [process.stdout, process.stderr]) stream.setMaxListeners(0);
process.on('message', (line: CommandLine) => {
  runOne(line).catch((error: Error) => {
    writeSync(2, `${error.stack}\n`);
    process.exit(1);
  });
});
process.once('disconnect', () => process.exit());
