import { otherVariables } from '../../config/names.ts';
import { type Command, defineCommand, type Flag, type Input } from '../command.ts';
import { print, say } from '../stdio.ts';
import {
  type AlertServer,
  callServer,
  defaultUrl,
  explainFailure,
  parseObject,
  readServer,
  temporaryFailure,
} from './server.ts';

const timeoutMs = 15_000;

const askingFlags = {
  json: { summary: 'Print JSON, one object a line, for scripts.' },
  url: { value: 'URL', summary: `Server to ask, instead of ${otherVariables.url}.` },
} as const;

const exitCodes = {
  0: 'success',
  1: 'the server refused it, for example because there is no such incident, silence or rotation',
  2: 'the command line is invalid',
  [temporaryFailure]: 'the server could not be reached',
};

/** Variables of commands that ask a server, with the scope of the key that they need. */
export const askedVariables = (scope: string) => ({
  [otherVariables.url]: `Server to ask, with the path of a mount if it has one. Default ${defaultUrl}.`,
  [otherVariables.key]: `Key from create-key with the scope ${scope}, if the server asks for one.`,
});

interface AskingCommand<F> extends Pick<Command, 'name' | 'argument' | 'summary' | 'details'> {
  /** Its own flags, besides --json and --url. */
  flags?: F;
  /** Of the key that it needs, for people. */
  scope: string;
  run(server: AlertServer, input: Input<F & typeof askingFlags>): Promise<number | undefined>;
}

/** A command that asks a server, for people or scripts. */
export const defineAskingCommand = <const F extends Record<string, Flag> = Record<never, never>>({
  flags,
  scope,
  run,
  ...command
}: AskingCommand<F>): Command =>
  defineCommand({
    ...command,
    flags: { ...flags, ...askingFlags },
    variables: askedVariables(scope),
    exitCodes,
    run: (input) => run(readServer(input.own.url), input as unknown as Input<F & typeof askingFlags>),
  });

/** Sends a request, by default a GET, and shows its response; resolves to the exit code. */
export const ask = async (
  server: AlertServer,
  path: string,
  show: (body: Record<string, unknown>, text: string) => void,
  { method = 'GET', body }: { method?: string; body?: object | undefined } = {},
): Promise<number> => {
  const reply = await callServer(server, path, { method, body, timeoutMs }).catch((error: unknown) => {
    say(`${server.url.origin}: ${explainFailure(error)}`);
  });
  if (!reply) return temporaryFailure;
  const { status, text } = reply;
  const answer = parseObject(text);
  if (status === 200 || status === 201) {
    show(answer, text);
    return 0;
  }
  return reportRefusal(server, status, typeof answer['error'] === 'string' ? answer['error'] : '');
};

/** Says what the server has responded instead of what it was asked for, and returns the exit code. */
export const reportRefusal = ({ url, key }: AlertServer, status: number, reason: string): number => {
  say(`${url.origin} responded ${status}${reason === '' ? '' : `: ${reason}`}${toHint(status, key)}`);
  return 1;
};

/** Prints objects for scripts. */
export const printLines = (rows: readonly object[]): void =>
  print(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));

/** Prints objects for scripts, or as a table, or says that there is `nothing`. */
export const printRows = <Row extends object>(
  rows: readonly Row[],
  isJson: boolean | undefined,
  toText: (rows: readonly Row[]) => string,
  nothing = '',
): void => {
  if (isJson) printLines(rows);
  else print(rows.length === 0 ? nothing : toText(rows));
};

const toHint = (status: number, key: string | undefined): string =>
  status === 401 && key === undefined ? `; set ${otherVariables.key} to a key from signalbox create-key` : '';
