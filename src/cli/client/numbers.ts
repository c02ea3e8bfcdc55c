import type { NumberedThings } from '../command.ts';
import { escapeControls, print } from '../stdio.ts';
import { callServer, parseObject, readServer } from './server.ts';
import { toOneLine } from './table.ts';

/** Somebody waits for the completion of a line. */
const timeoutMs = 1000;

export const numberedThings: readonly NumberedThings[] = ['incidents', 'tasks'];

const paths = {
  incidents: ['api/incidents?limit=200'],
  tasks: ['InProgress', 'Pending'].map((status) => `api/tasks?order=newest&limit=100&status=${status}`),
};

/** Prints the numbers of what is open, each with a tab and what it is, for the completions of shells; or nothing. */
export const printNumbers = async (things: NumberedThings): Promise<number> => {
  try {
    const server = readServer(undefined);
    const pages = await Promise.all(paths[things].map((path) => callServer(server, path, { timeoutMs })));
    const rows = pages.flatMap(({ text }) => (parseObject(text)['data'] as object[] | undefined) ?? []);
    print(rows.map(toLine).join(''));
    return 0;
  } catch {
    return 1;
  }
};

const toLine = (row: { number?: number; level?: string; title?: string; Id?: number; Title?: string }): string => {
  const { number, level, title, Id, Title } = row;
  return `${number ?? Id}\t${escapeControls(toOneLine([level, title ?? Title].filter(Boolean).join(' ')))}\n`;
};
