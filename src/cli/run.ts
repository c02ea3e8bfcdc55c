import closeWithGrace from 'close-with-grace';
import { version } from '../app/package-info.ts';
import type { Flags } from '../config/load.ts';
import { createSettingsSchema } from '../config/schema.ts';
import { SettingsError } from '../config/settings-error.ts';
import type { Tool } from '../profiles/feature.ts';
import { features } from '../profiles/index.ts';
import { parseArguments, UsageError } from './args.ts';
import { printPasswordHash } from './hash-password.ts';
import { serve } from './serve.ts';
import { createUsage } from './usage.ts';

/** Milliseconds that running requests have to finish once the process is told to end. */
const gracePeriod = 10_000;

const schema = createSettingsSchema(features.map(({ settings }) => settings));

const tools = features.flatMap((feature) => feature.tools ?? []);

/** Does what the command line asks for. Resolves to the exit code of what failed; what goes on has none. */
export const run = async (argv: string[]): Promise<number | undefined> => {
  try {
    await runCommand(argv);
    return undefined;
  } catch (error) {
    // Whoever leaves the password's prompt has been told nothing wrong.
    if ((error as Error).name === 'AbortError') return 130;
    if (!(error instanceof SettingsError || error instanceof UsageError)) throw error;
    process.stderr.write(`signalbox: ${error.message}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
};

const runCommand = async (argv: string[]): Promise<void> => {
  const { words, flags } = parseArguments(argv, schema);
  if (flags['help'])
    return print(
      createUsage(
        schema,
        features.flatMap(({ profiles }) => profiles),
        tools,
      ),
    );
  if (flags['version']) return print(`${version}\n`);
  const [command = 'serve', ...rest] = words;
  const tool = tools.find(({ name }) => name === command);
  if (tool) return runTool(tool, rest);
  if (rest.length > 0) throw new UsageError(`${command} takes no further words; see signalbox --help`);
  switch (command) {
    case 'serve':
      return runServer(flags);
    case 'hash-password':
      return printPasswordHash({ input: process.stdin, output: process.stdout, messages: process.stderr });
    case 'config-schema':
      return print(`${JSON.stringify(schema, null, 2)}\n`);
    default:
      throw new UsageError(`there is no command ${JSON.stringify(command)}; see signalbox --help`);
  }
};

const print = (text: string): void => {
  process.stdout.write(text);
};

const runTool = ({ name, argument, run: use }: Tool, words: string[]): void => {
  const [text] = words;
  if (text === undefined || words.length > 1) {
    throw new UsageError(`${name} takes one ${argument}, in quotes; see signalbox --help`);
  }
  const { output, ok } = use(text);
  print(`${output}\n`);
  process.exitCode = ok ? 0 : 1;
};

const runServer = async (flags: Flags): Promise<void> => {
  const { app, message } = await serve(schema, flags);
  const { server } = app;
  // Who closes the terminal ends the server; without one, SIGHUP is how logrotate says that files were moved.
  const hasTerminal = process.stdin.isTTY;
  closeWithGrace(
    { delay: gracePeriod, logger: server.log, skip: hasTerminal ? [] : ['SIGHUP'] },
    async ({ err, signal }) => {
      if (err) server.log.fatal({ err }, 'unforeseen error');
      server.log.info({ signal }, 'ending');
      await server.close();
    },
  );
  if (!hasTerminal) {
    process.on('SIGHUP', () => {
      app.reopen().catch((err: unknown) => server.log.error({ err }, 'files could not be opened again'));
    });
  }
  // Whoever has read where it listens may also end it.
  print(message);
};
