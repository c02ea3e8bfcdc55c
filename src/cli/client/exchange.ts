import { once } from 'node:events';
import type { IncomingMessage, RequestOptions } from 'node:http';

/** Bytes of a response that are read. */
const maxResponseBytes = 16 * 1024 * 1024;

export interface HttpReply {
  status: number;
  headers: IncomingMessage['headers'];
  text: string;
}

/**
 * Sends one request on a connection of its own and reads the response. Redirects are not followed. Rejects with the
 * connection's error, or if the response is not complete after `timeoutMs`. Without `fetch`, which takes 15 ms to load.
 */
export const exchange = async (
  url: URL,
  { body, timeoutMs, ...options }: RequestOptions & { body?: string; timeoutMs: number; rejectUnauthorized?: boolean },
): Promise<HttpReply> => {
  const { request } = url.protocol === 'https:' ? await import('node:https') : await import('node:http');
  const timeout = AbortSignal.timeout(Math.ceil(timeoutMs));
  const sent = request(url, { agent: false, signal: timeout, ...options });
  // Once the response has begun, reading it fails, too.
  sent.on('error', () => undefined);
  try {
    const [response]: IncomingMessage[] = await once(sent.end(body), 'response');
    if (!response) throw new Error('there is no response');
    return { status: response.statusCode ?? 0, headers: response.headers, text: await readText(response) };
  } catch (error) {
    throw timeout.aborted ? new Error(`no response within ${Math.round(timeoutMs / 1000)} s`) : error;
  } finally {
    sent.destroy();
  }
};

const readText = async (response: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxResponseBytes) throw new Error('the response is too long');
  }
  return Buffer.concat(chunks).toString();
};

const untrusted = 'the certificate is not trusted; the variable NODE_EXTRA_CA_CERTS can name a file with its authority';

const reasons: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the name server does not respond',
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
};

/** Whether a code of a failure says that the server speaks neither HTTP nor TLS, as asked. */
export const isOtherProtocol = (code: string): boolean => /^(EPROTO$|ERR_SSL|HPE_)/.test(code);

/** Why there is no response, as a clause. */
export const explainFailure = (error: unknown): string => {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (isOtherProtocol(code)) return `the server does not speak ${code.startsWith('HPE_') ? 'HTTP' : 'HTTPS'}`;
  return reasons[code] ?? (message || code);
};

/** The object of a JSON text; an empty one if it is something else. */
export const parseObject = (text: string): Record<string, unknown> => {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
};
