import { hostname, userInfo } from 'node:os';
import { toMilliseconds } from '../client/seconds.ts';
import { clientFlags, clientVariables, readServer } from '../client/server.ts';
import { defineCommand } from '../command.ts';
import { print, say } from '../messages.ts';

/** As sysexits.h has it: the sender can try again later. */
const temporaryFailure = 75;

export const send = defineCommand({
  name: 'send',
  argument: { name: '[MESSAGE...]', isList: true },
  summary: 'Send an alert to a server, for cron jobs and scripts.',
  details: [
    'Without MESSAGE, or with -, the message is read from standard input. It must not be empty.',
    'While the server is away or refuses because of load, the alert is sent again; it is stored only once.',
    'Nothing is printed if the alert was stored.',
  ],
  flags: {
    ...clientFlags,
    source: { ...clientFlags.source, summary: 'Source of the alert. Default: your user name.' },
    level: { ...clientFlags.level, summary: `${clientFlags.level.summary} Default INFO.` },
    verbose: { summary: 'Print the id of the stored alert, and each failed attempt on stderr.' },
  },
  variables: clientVariables,
  exitCodes: {
    0: 'the alert was stored',
    1: 'the server refused the alert',
    2: 'the command line or the message is invalid',
    [temporaryFailure]: 'the server could not be reached in time, or had no capacity',
  },
  run: async ({ words, own }) => {
    const server = readServer(own.url);
    const retryForMs = toMilliseconds('retryFor', own.retryFor ?? '60');
    const [{ deliver }, { readMessage }] = await Promise.all([
      import('../client/deliver.ts'),
      import('../client/message.ts'),
    ]);
    const message = await readMessage(words, process.stdin);
    const alert = { source: own.source ?? readUserName(), level: own.level ?? 'INFO', message, hostname: hostname() };
    const report = own.verbose ? (reason: string) => say(`trying again: ${reason}`) : undefined;
    const outcome = await deliver(alert, server, retryForMs, report);
    if ('id' in outcome) {
      if (own.verbose) print(`${outcome.id}\n`);
      return 0;
    }
    say(`the alert was not stored: ${'refused' in outcome ? outcome.refused : outcome.away}`);
    return 'refused' in outcome ? 1 : temporaryFailure;
  },
});

/** Like logger(1). */
const readUserName = (): string => {
  try {
    return userInfo().username;
  } catch {
    // The user of a container may have no name.
    return String(process.getuid?.() ?? '');
  }
};
