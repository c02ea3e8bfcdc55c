import { hostname, userInfo } from 'node:os';
import { readChoice, UsageError } from '../args.ts';
import { defineCommand } from '../command.ts';
import { escapeControls, print, readInput, say } from '../stdio.ts';
import { createPendingAlert, explainUnsent, maxAlertBytes, sendAlert } from './alert-sender.ts';
import {
  clientFlags,
  clientVariables,
  readProblemName,
  readServer,
  temporaryFailure,
  toMilliseconds,
} from './server.ts';

const alertStatuses = ['firing', 'resolved'] as const;

export const sendCommand = defineCommand({
  name: 'send',
  argument: { name: '[MESSAGE...]', isList: true },
  summary: 'Send an alert to a server, for cron jobs and scripts.',
  details: [
    'Without MESSAGE, or with -, the message is read from standard input. The message must not be empty.',
    'While the server is unreachable or overloaded, send retries; the alert is stored only once.',
    'If the server stays unreachable, or refuses all requests, for example because of a wrong key or URL, the alert is kept on disk; the next send or run delivers the alert first.',
    'Nothing is printed if the alert was stored.',
  ],
  flags: {
    ...clientFlags,
    source: { ...clientFlags.source, summary: 'Source of the alert. Default: your user name.' },
    level: { ...clientFlags.level, summary: `${clientFlags.level.summary} Default INFO.` },
    hostname: { value: 'NAME', summary: 'Host that the alert is about. Default: this host.' },
    status: {
      value: 'STATUS',
      summary: 'firing, or resolved if the problem has ended; resolved needs --key.',
      choices: alertStatuses,
    },
    link: { value: 'URL', summary: 'URL of a page about the alert.' },
    label: {
      value: 'NAME=VALUE',
      isList: 'repeated',
      summary: 'Label of the alert; repeat the flag for several labels.',
    },
    verbose: { summary: 'Print the id of the stored alert, and each failed attempt on stderr.' },
  },
  variables: clientVariables,
  exitCodes: {
    0: 'the alert was stored',
    1: 'the server refused the alert, which is stored on disk unless the alert itself is invalid',
    2: 'the command line or the message is invalid',
    [temporaryFailure]: 'the server could not be reached in time, or was overloaded; the alert is stored on disk',
  },
  run: async ({ words, own }) => {
    const server = readServer(own.url, own.dataDir);
    const retryForMs = toMilliseconds('retryFor', own.retryFor ?? '60');
    const given = readGiven(own);
    const alert = {
      source: own.source ?? readUserName(),
      level: own.level ?? 'INFO',
      message: await readMessage(words),
      hostname: own.hostname ?? hostname(),
      ...given,
    };
    const report = own.verbose ? (reason: string) => say(`trying again: ${reason}`) : undefined;
    const sent = await sendAlert(createPendingAlert(alert, retryForMs), server, report);
    if ('id' in sent) {
      if (own.verbose) print(`${escapeControls(sent.id)}\n`);
      return 0;
    }
    say(explainUnsent(sent));
    return sent.cause === 'away' ? temporaryFailure : 1;
  },
});

interface Given {
  key?: string | undefined;
  status?: string | undefined;
  link?: string | undefined;
  label?: readonly string[] | undefined;
}

/** Reads the optional fields of the alert. Throws a UsageError for an invalid field. */
const readGiven = ({ key, status, link, label }: Given) => {
  const known = status === undefined ? undefined : readChoice('--status', status, alertStatuses);
  if (known === 'resolved' && key === undefined) {
    throw new UsageError('--status resolved needs --key: pass the key of the firing alert');
  }
  if (link !== undefined && !(URL.canParse(link) && /^https?:$/.test(new URL(link).protocol))) {
    throw new UsageError(`--link must be an http or https URL, not ${JSON.stringify(link)}`);
  }
  return {
    ...(key !== undefined && { key: readProblemName(key) }),
    ...(known !== undefined && { status: known }),
    ...(link !== undefined && { link }),
    ...(label !== undefined && { labels: Object.fromEntries(label.map(toLabel)) }),
  };
};

const toLabel = (text: string): [string, string] => {
  const [, name, value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined) throw new UsageError(`--label must be NAME=VALUE, not ${JSON.stringify(text)}`);
  return [name, value];
};

/**
 * Returns the words joined by spaces. Without words, or for `-`, reads standard input. Bytes that are not UTF-8 become
 * U+FFFD. Throws a UsageError for an unusable message.
 */
const readMessage = async (words: readonly string[]): Promise<string> => {
  const isPiped = words.length === 0 || (words.length === 1 && words[0] === '-');
  const message = isPiped ? await readPiped() : words.join(' ');
  if (message.trim() === '') throw new UsageError('the message is empty');
  return message;
};

const readPiped = async (): Promise<string> => {
  const bytes = await readInput(process.stdin, maxAlertBytes);
  if (!bytes) throw new UsageError('the message is longer than 1 MiB');
  return bytes.toString().replace(/[\r\n]+$/, '');
};

/** Returns the user name, as logger(1) does. */
const readUserName = (): string => {
  try {
    return userInfo().username;
  } catch {
    // A container's user may have no name.
    return String(process.getuid?.() ?? '');
  }
};
