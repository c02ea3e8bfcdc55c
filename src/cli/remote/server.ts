import { once } from 'node:events';
import { statSync } from 'node:fs';
import type { IncomingMessage, OutgoingHttpHeaders, RequestOptions } from 'node:http';
import { join, resolve } from 'node:path';
import { agentSocket, otherVariables } from '../../config/names.ts';
import { severities } from '../../kit/severity.ts';
import { connectionFailures, forUntrusted } from '../../lib/network-failures.ts';
import { parseJson } from '../../lib/parse-json.ts';
import { toFlag, UsageError } from '../args.ts';
import { readInput } from '../stdio.ts';

/** Server that receives alerts. */
export interface AlertServer {
  /** Always ends with `/`. Its path is a mount, or the prefix that a proxy uses. */
  url: URL;
  key: string | undefined;
  /** Socket of an agent on this machine. */
  socketPath?: string;
}

/** Exit code of commands if the server is currently unreachable (EX_TEMPFAIL of sysexits.h). */
export const temporaryFailure = 75;

/** Address of a server with default settings. */
export const defaultUrl = 'http://127.0.0.1:8080';

/** Flags of commands that send alerts. */
export const clientFlags = {
  source: { value: 'NAME', summary: 'Source of the alert.' },
  level: {
    value: 'LEVEL',
    summary: `Level of the alert: ${severities.join(', ')} or any other text.`,
    choices: severities,
  },
  key: {
    value: 'KEY',
    summary: 'Key of the problem: a resolved alert resolves all firing alerts with this key.',
  },
  url: { value: 'URL', summary: `URL of the server that receives the alert. Default: ${otherVariables.url}.` },
  dataDir: { value: 'FOLDER', summary: 'Data folder of the local agent that receives the alert.' },
  retryFor: {
    value: 'SECONDS',
    isNumber: true,
    summary: 'Seconds to retry while the server is unreachable. Default 60.',
  },
} as const;

/** Variables of commands that send alerts. */
export const clientVariables = {
  XDG_STATE_HOME:
    'Folder in which undelivered alerts are stored, in the subfolder signalbox/spool. Default ~/.local/state.',
  [otherVariables.url]: `URL of the server that receives alerts, including the path of a mount. Default ${defaultUrl}.`,
  [otherVariables.key]: 'Key from create-key with the scope alerts:write, if the server requires a key.',
};

/**
 * Returns the server named by the flag `--url` or by the variables. Throws a UsageError if either is invalid. The error
 * never shows the key.
 */
export const readServer = (flag: string | undefined, dataDir?: string): AlertServer => {
  const { [otherVariables.url]: variable, [otherVariables.key]: key } = process.env;
  const socketPath = flag === undefined && (dataDir !== undefined || !variable) ? findAgentSocket(dataDir) : undefined;
  if (socketPath !== undefined) return { url: new URL(`http://localhost/#${socketPath}`), key: undefined, socketPath };
  const url = flag === undefined ? toServerUrl(variable || defaultUrl, otherVariables.url) : toServerUrl(flag, '--url');
  if (key !== undefined && !/^[!-~]*$/.test(key.trim())) {
    throw new UsageError(`${otherVariables.key} must be a key that signalbox create-key has printed`);
  }
  return { url, key: key?.trim() || undefined };
};

/** Data folders of an agent to try unless `SIGNALBOX_DATA_DIR` is set. */
const agentFolders = ['data', '/var/lib/signalbox-agent'];

/** Returns the socket of the agent on this machine. Undefined if there is no agent. */
const findAgentSocket = (dataDir = process.env['SIGNALBOX_DATA_DIR']): string | undefined => {
  const paths = (dataDir ? [dataDir] : agentFolders).map((folder) => join(resolve(folder), agentSocket));
  return paths.find((path) => tryToStat(path)?.isSocket()) ?? undefined;
};

const tryToStat = (path: string) => {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
};

/** Checks an alert's key. Throws a UsageError for an invalid key. */
export const readProblemName = (key: string): string => {
  if (key.startsWith('sbk_')) {
    throw new UsageError(
      `--key is the key of the problem, not of the server: set ${otherVariables.key} to the server's key`,
    );
  }
  if (key === '' || key.length > 256) throw new UsageError('--key must have 1 to 256 characters');
  return key;
};

/** Maximum seconds of a timer: 24 days. */
const maxSeconds = 2_000_000;

/** Converts a flag's value from seconds to milliseconds. Throws a UsageError if the value is not a valid number. */
export const toMilliseconds = (flag: string, text: string): number => {
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds <= maxSeconds) return seconds * 1000;
  throw new UsageError(
    `${toFlag(flag)} must be a number of seconds from 0 to ${maxSeconds}, not ${JSON.stringify(text)}`,
  );
};

/** Returns a URL that ends with `/`. `place` names the source of the text in error messages. */
export const toServerUrl = (text: string, place: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new UsageError(`${place} must be a URL such as ${defaultUrl}, not ${JSON.stringify(text)}`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new UsageError(`${place} must be a URL without user name, password, query or fragment`);
  }
  url.pathname = url.pathname.replace(/\/*$/, '/');
  return url;
};

/** Maximum number of bytes read from a response. */
const maxResponseBytes = 16 * 1024 * 1024;

/** Result of a request. */
export interface ServerReply {
  /** Status of the response. 0 without a response. */
  status: number;
  headers: IncomingMessage['headers'];
  text: string;
  /** Reason for a failure, as a clause for people. Never shows the key. */
  reason: string;
  /**
   * True if there was no response and a retry is useless, because the certificate is not trusted or the server speaks
   * neither HTTP nor TLS.
   */
  isPermanent: boolean;
}

type Call = Pick<RequestOptions, 'method' | 'headers'> & {
  /** Sent as JSON unless it is a string. */
  body?: object | string | undefined;
  timeoutMs: number;
  rejectUnauthorized?: boolean;
};

/**
 * Sends one request with the server's key on a separate connection. The response must be complete within `timeoutMs`.
 * Does not follow redirects. Never rejects. Does not use `fetch`, because `fetch` takes 15 ms to load.
 */
export const callServer = async (
  { url, key, socketPath }: AlertServer,
  path: string,
  { body, headers, timeoutMs, ...options }: Call,
): Promise<ServerReply> => {
  const timeout = AbortSignal.timeout(Math.ceil(timeoutMs));
  try {
    const { request } = url.protocol === 'https:' ? await import('node:https') : await import('node:http');
    const type = typeof body === 'string' ? 'text/plain' : 'application/json';
    const sent = request(new URL(path, url), {
      agent: false,
      ...(socketPath !== undefined && { socketPath }),
      signal: timeout,
      ...options,
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': type }),
        ...headers,
      } as OutgoingHttpHeaders,
    });
    // Once the response has begun, reading it can fail as well.
    sent.on('error', () => undefined);
    try {
      const [response]: IncomingMessage[] = await once(sent.end(toBodyText(body)), 'response');
      if (!response) throw new Error('no response');
      const { statusCode: status = 0, headers } = response;
      const bytes = await readInput(response, maxResponseBytes);
      if (!bytes) throw new Error('the response is too long');
      const text = bytes.toString();
      return {
        status,
        headers,
        text,
        reason: explainStatus({ url, key }, status, readError(status, text)),
        isPermanent: false,
      };
    } finally {
      sent.destroy();
    }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const reason = timeout.aborted ? `no response within ${Math.round(timeoutMs / 1000)} s` : explainFailure(error);
    const isPermanent = !timeout.aborted && (isOtherProtocol(code) || /CERT|ISSUER|SIGN|ERR_TLS/.test(code));
    return { status: 0, headers: {}, text: '', reason: `${url.origin}: ${reason}`, isPermanent };
  }
};

const toBodyText = (body: Call['body']): string | undefined => (typeof body === 'object' ? JSON.stringify(body) : body);

const readError = (status: number, text: string): string => {
  const { error } = status < 300 ? {} : parseObject(text);
  return typeof error === 'string' ? error : '';
};

/** Explains why a response is a failure, as a clause. Never shows the key. */
export const explainStatus = ({ url, key }: AlertServer, status: number, error: string): string => {
  if (error === '') return `${url.origin} responded ${status}`;
  const said = key === undefined ? error : error.replaceAll(key, '***');
  return `${url.origin} responded ${status}: ${said.slice(0, 500)}`;
};

/** Statuses after which the same request may be accepted later, by the server or by a proxy in front of it. */
const passing = new Set([408, 429, 502, 503, 504]);

export const isPassingStatus = (status: number): boolean => passing.has(status);

const reasons: Record<string, string> = {
  ...connectionFailures,
  ...forUntrusted('the certificate is not trusted: set NODE_EXTRA_CA_CERTS to a file with its certificate authority'),
};

/** True if the error code shows that the server speaks neither HTTP nor TLS. */
const isOtherProtocol = (code: string): boolean => /^(EPROTO$|ERR_SSL|HPE_)/.test(code);

/** Explains a missing response, as a clause. */
export const explainFailure = (error: unknown): string => {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (isOtherProtocol(code)) return `the server does not speak ${code.startsWith('HPE_') ? 'HTTP' : 'HTTPS'}`;
  return reasons[code] ?? (message || code);
};

/** Returns the object in a JSON text. An empty object for any other text. */
export const parseObject = (text: string): Record<string, unknown> => Object(parseJson(text));
