import { otherVariables } from '../../config/names.ts';
import { type Command, type CommandInput, defineCommand, type Flag } from '../command.ts';
import { escapeJson, print, say } from '../stdio.ts';
import {
  type AlertServer,
  callServer,
  defaultUrl,
  parseObject,
  readServer,
  type ServerReply,
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

/** There is no answer of use: what to say about that, and the exit code. */
class Unanswered extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** What the server responds for a list. */
export interface ListReply<Row> {
  data: Row[];
  total: number;
}

/** Parameters; those that are undefined or empty are not sent. */
export type AskedQuery = Record<string, string | number | undefined>;

interface Sent {
  /** GET by default. */
  method?: string;
  body?: object;
  query?: AskedQuery;
}

/** What a command asks and prints with; methods of requests throw where the server has no answer, which ends the command. */
export interface Asking {
  server: AlertServer;
  /** Sends a request and resolves to the text of the response. */
  askText(path: string, sent?: Sent): Promise<string>;
  /** The same for the object that the response has. */
  ask<T>(path: string, sent?: Sent): Promise<T>;
  /** Prints objects, for scripts as JSON, or says that there is `nothing`. */
  show<Row extends object>(rows: readonly Row[], toText: (rows: readonly Row[]) => string, nothing?: string): undefined;
}

interface AskingCommand<F> extends Pick<Command, 'name' | 'argument' | 'summary' | 'details'> {
  /** Its own flags, besides --json and --url. */
  flags?: F;
  /** Of the key that it needs, for people. */
  scope: string;
  /** Resolves to the exit code, if it is not 0. */
  run(asking: Asking, input: CommandInput<F & typeof askingFlags>): Promise<number | undefined>;
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
    run: async (input) => {
      const asking = createAsking(readServer(input.own.url), input.own.json);
      try {
        return (await run(asking, input as unknown as CommandInput<F & typeof askingFlags>)) ?? 0;
      } catch (error) {
        if (!(error instanceof Unanswered)) throw error;
        say(error.message);
        return error.exitCode;
      }
    },
  });

const createAsking = (server: AlertServer, isJson = false): Asking => {
  const askText: Asking['askText'] = async (path, { method = 'GET', body, query = {} } = {}) => {
    const search = new URLSearchParams();
    for (const [name, value = ''] of Object.entries(query)) if (value !== '') search.set(name, `${value}`);
    const target = search.size === 0 ? path : `${path}?${search}`;
    const reply = await callServer(server, target, { method, body, timeoutMs });
    if (reply.status === 200 || reply.status === 201) return reply.text;
    throw toUnanswered(server, reply);
  };
  return {
    server,
    askText,
    ask: async <T>(...request: Parameters<typeof askText>) => parseObject(await askText(...request)) as T,
    show: (rows, toText, nothing = '') => {
      if (isJson) return printLines(rows);
      return print(rows.length === 0 ? nothing : toText(rows));
    },
  };
};

/** What there is instead of what the server was asked for. */
export const toUnanswered = (
  { key }: AlertServer,
  { status, reason }: Pick<ServerReply, 'status' | 'reason'>,
): Unanswered => {
  const hint =
    status === 401 && key === undefined ? `; set ${otherVariables.key} to a key from signalbox create-key` : '';
  return new Unanswered(`${reason}${hint}`, status === 0 ? temporaryFailure : 1);
};

/** Prints objects for scripts. */
export const printLines = (rows: readonly object[]): undefined =>
  print(rows.map((row) => `${escapeJson(JSON.stringify(row))}\n`).join(''));

/** Says that the server has more than it has listed; `which` as `newest`. */
export const sayIfMore = ({ data, total }: ListReply<unknown>, which: string): void => {
  if (Number(total) > data.length) say(`${total} match; these are the ${data.length} ${which}`);
};

/** Characters of an id that tell things apart. */
const shownLength = 13;

/** The beginning of an id, as tables show it. */
export const toShortId = (id: string): string => id.slice(0, shownLength);

/** The row whose id begins like this; says why there is none. `noun` as `silence`. */
export const findById = <Row extends { id: string }>(
  rows: readonly Row[],
  id: string,
  noun: string,
): Row | undefined => {
  const [found, ...others] = rows.filter((row) => row.id.startsWith(id.toLowerCase()));
  if (found === undefined) say(`there is no ${noun} ${id}`);
  if (others.length === 0) return found;
  say(`several ${noun}s have an id that begins with ${id}`);
  return undefined;
};
