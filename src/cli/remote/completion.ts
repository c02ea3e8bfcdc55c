import { UsageError } from '../args.ts';
import { defineCommand, type NumberedThings } from '../command.ts';
import { escapeControls, print } from '../stdio.ts';
import { completionShells, loadTexts } from '../texts.ts';
import { askedVariables } from './ask.ts';
import { callServer, parseObject, readServer } from './server.ts';
import { foldSpaces } from './table.ts';

export const completionCommand = defineCommand({
  name: 'completion',
  argument: { name: 'SHELL', choices: completionShells },
  summary: 'Print a completion script for bash, zsh or fish.',
  details: [
    'For bash, add this line to ~/.bashrc: eval "$(signalbox completion bash)"',
    'The scripts also complete incident and task numbers: they ask the server, and offer no numbers if the response takes over a second.',
  ],
  variables: askedVariables('incidents:read'),
  run: async ({ words: [word] }) => {
    if (word === 'incidents' || word === 'tasks') return printNumbers(word);
    const shell = completionShells.find((one) => one === word);
    if (!shell) throw new UsageError(`completion takes ${completionShells.join(', ')}, not ${JSON.stringify(word)}`);
    return print(loadTexts().completions[shell]);
  },
});

/** Milliseconds. Short, because a user is waiting for the completion. */
const timeoutMs = 1000;

const paths: Record<NumberedThings, string[]> = {
  incidents: ['api/incidents?limit=200'],
  tasks: ['InProgress', 'Pending'].map((status) => `api/tasks?order=newest&limit=100&status=${status}`),
};

/**
 * Prints the numbers of open incidents or tasks for shell completion. A tab and the title follow each number. Prints
 * nothing on failure.
 */
const printNumbers = async (things: NumberedThings): Promise<number> => {
  try {
    const server = readServer(undefined);
    const pages = await Promise.all(paths[things].map((path) => callServer(server, path, { timeoutMs })));
    if (pages.some(({ status }) => status === 0)) return 1;
    const rows = pages.flatMap(({ text }) => (parseObject(text)['data'] as object[] | undefined) ?? []);
    print(rows.map(toLine).join(''));
    return 0;
  } catch {
    return 1;
  }
};

const toLine = (row: { number?: number; level?: string; title?: string; Id?: number; Title?: string }): string => {
  const { number, level, title, Id, Title } = row;
  return `${number ?? Id}\t${escapeControls(foldSpaces([level, title ?? Title].filter(Boolean).join(' ')))}\n`;
};
