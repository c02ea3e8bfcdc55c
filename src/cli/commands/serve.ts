import { defineCommand } from '../command.ts';

/** Milliseconds for running requests to finish during shutdown. */
const gracePeriod = 10_000;

/** The command that runs if none is named. */
export const serve = defineCommand({
  name: 'serve',
  summary: 'Start the server.',
  settings: 'all',
  run: async ({ flags }) => {
    const { parts, schema } = await import('../program.ts');
    const [{ handleSignals }, { serve: start }] = await Promise.all([parts.stopping(), parts.serve()]);
    const { server, log, message, logRemarks, reload } = await start(schema, flags);
    // In a terminal, SIGHUP means the window was closed, so the server stops.
    const isInTerminal = process.stdin.isTTY || process.stdout.isTTY;
    handleSignals({
      log,
      close: () => server.close(),
      limitMs: gracePeriod,
      reload: isInTerminal ? undefined : reload,
    });
    // The server works without its start message, on a full disk for example.
    process.stdout.on('error', () => undefined);
    // Printed only after signal handlers are installed: readers of the address may also stop the server.
    process.stdout.write(message);
    logRemarks();
    return undefined;
  },
});
