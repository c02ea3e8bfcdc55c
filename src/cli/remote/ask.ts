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
  json: { summary: 'Print JSON for scripts, one object per line.' },
  url: { value: 'URL', summary: `URL of the server. Default: ${otherVariables.url}.` },
} as const;

const exitCodes = {
  0: 'success',
  1: 'the server refused the request, for example because the incident, silence or rotation does not exist',
  2: 'the command line is invalid',
  [temporaryFailure]: 'the server could not be reached',
};

/**
 * Variables of commands that read from a server. `scope` is the scope that the key needs. `admin` stands for a token of
 * an Admin.
 */
export const askedVariables = (scope: string) => ({
  [otherVariables.url]: `URL of the server, including the path of a mount. Default ${defaultUrl}.`,
  [otherVariables.key]:
    scope === 'admin'
      ? 'Token of an Admin, from POST /api/auth/login.'
      : `Key from create-key with the scope ${scope}, if the server requires a key.`,
});

/** Error message and exit code for a server that gives no usable response. */
export class UnusableResponse extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Response with a list from the server. */
export interface ListReply<Row> {
  data: Row[];
  total: number;
}

/** Query parameters. Undefined and empty values are not sent. */
export type AskedQuery = Record<string, string | number | undefined>;

interface Sent {
  /** Default: GET. */
  method?: string;
  body?: object;
  query?: AskedQuery;
}

/** Requests and output of a command. A request without a usable response throws, so that the command ends. */
export interface Asking {
  server: AlertServer;
  /** Sends a request and resolves to the text of the response. */
  askText(path: string, sent?: Sent): Promise<string>;
  /** Sends a request and resolves to the object in the response. */
  ask<T>(path: string, sent?: Sent): Promise<T>;
  /** Prints objects for people, or as JSON for scripts. If the list is empty, prints the text in `nothing`. */
  show<Row extends object>(rows: readonly Row[], toText: (rows: readonly Row[]) => string, nothing?: string): undefined;
}

interface AskingCommand<F> extends Pick<Command, 'name' | 'argument' | 'summary' | 'details'> {
  /** Flags in addition to --json and --url. */
  flags?: F;
  /** Scope that the key needs, as shown to people. `admin` stands for a token of an Admin. */
  scope: string;
  /** Runs the command. Resolves to the exit code, or to nothing for 0. */
  run(asking: Asking, input: CommandInput<F & typeof askingFlags>): Promise<number | undefined>;
}

/** Defines a command that reads from a server, for people or scripts. */
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
        if (!(error instanceof UnusableResponse)) throw error;
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
    throw toUnusableResponse(server, reply);
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

/** Creates the error for an unusable response. */
export const toUnusableResponse = (
  { key }: AlertServer,
  { status, reason }: Pick<ServerReply, 'status' | 'reason'>,
): UnusableResponse => {
  const hint =
    status === 401 && key === undefined ? `; set ${otherVariables.key} to a key from signalbox create-key` : '';
  return new UnusableResponse(`${reason}${hint}`, status === 0 ? temporaryFailure : 1);
};

/** Prints objects for scripts. */
export const printLines = (rows: readonly object[]): undefined =>
  print(rows.map((row) => `${escapeJson(JSON.stringify(row))}\n`).join(''));

/** Says that the server has more entries than were listed. `which` is a word such as `newest`. */
export const sayIfMore = ({ data, total }: ListReply<unknown>, which: string): void => {
  if (Number(total) > data.length) say(`showing the ${data.length} ${which} of ${total} matches`);
};

/** Number of characters of an id that tables show. Enough to tell entries apart. */
const shownLength = 13;

/** Shortens an id for tables. */
export const toShortId = (id: string): string => id.slice(0, shownLength);

/**
 * Returns the row whose id begins with `id`. Unless there is exactly one, prints the reason and returns undefined.
 * `noun` is a word such as `silence`.
 */
export const findById = <Row extends { id: string }>(
  rows: readonly Row[],
  id: string,
  noun: string,
): Row | undefined => {
  const [found, ...others] = rows.filter((row) => row.id.startsWith(id.toLowerCase()));
  if (found === undefined) say(`there is no ${noun} ${id}`);
  if (others.length === 0) return found;
  say(`several ${noun}s have an id that begins with ${id}: use more characters of the id`);
  return undefined;
};
