import { otherVariables } from '../../config/names.ts';
import { print, say } from '../stdio.ts';
import { type AlertServer, defaultUrl, exchange, explainFailure, parseObject } from './server.ts';

/** As sysexits.h has it: the server cannot be reached now. */
const temporaryFailure = 75;

const timeoutMs = 15_000;

/** Flags of commands that ask a server. */
export const urlFlag = { value: 'URL', summary: `Server to ask, instead of ${otherVariables.url}.` } as const;
export const jsonFlag = { summary: 'Print JSON, one object a line, for scripts.' } as const;

export const askingExitCodes = {
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

/** Sends a request and shows its response; resolves to the exit code. */
export const ask = async (
  { url, key }: AlertServer,
  method: string,
  path: string,
  body: object | undefined,
  show: (body: Record<string, unknown>, text: string) => void,
): Promise<number> => {
  const headers = {
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const sent = { method, headers, timeoutMs, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const reply = await exchange(new URL(path, url), sent).catch((error: unknown) => {
    say(`${url.origin}: ${explainFailure(error)}`);
  });
  if (!reply) return temporaryFailure;
  const { status, text } = reply;
  const answer = parseObject(text);
  if (status === 200 || status === 201) {
    show(answer, text);
    return 0;
  }
  return reportRefusal({ url, key }, status, typeof answer['error'] === 'string' ? answer['error'] : '');
};

/** Says what the server has responded instead of what it was asked for, and returns the exit code. */
export const reportRefusal = ({ url, key }: AlertServer, status: number, reason: string): number => {
  say(`${url.origin} responded ${status}${reason === '' ? '' : `: ${reason}`}${toHint(status, key)}`);
  return 1;
};

/** Prints objects for scripts. */
export const printLines = (rows: readonly object[]): void =>
  print(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));

const toHint = (status: number, key: string | undefined): string =>
  status === 401 && key === undefined ? `; set ${otherVariables.key} to a key from signalbox create-key` : '';
