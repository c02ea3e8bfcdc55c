import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';

/** Bytes of a response that are read. */
const maxResponseBytes = 16 * 1024 * 1024;

export interface Reply {
  status: number;
  headers: IncomingMessage['headers'];
  text: string;
}

/**
 * Sends one request on a connection of its own and reads the response. Redirects are not followed. Rejects with the
 * connection's error, or with one named TimeoutError if the response is not complete after `timeoutMs`.
 */
export const exchange = async (
  url: URL,
  { body, timeoutMs, ...options }: RequestOptions & { body?: string; timeoutMs: number; rejectUnauthorized?: boolean },
): Promise<Reply> => {
  const { request } = url.protocol === 'https:' ? await import('node:https') : await import('node:http');
  const sent = request(url, { agent: false, ...options });
  const timer = setTimeout(() => sent.destroy(createTimeout(timeoutMs)), timeoutMs);
  try {
    return await readReply(sent.end(body));
  } finally {
    clearTimeout(timer);
    sent.destroy();
  }
};

const createTimeout = (timeoutMs: number): Error =>
  Object.assign(new Error(`no response within ${Math.round(timeoutMs / 1000)} s`), { name: 'TimeoutError' });

const readReply = (sent: ClientRequest): Promise<Reply> =>
  new Promise((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', async (response) => {
      const { statusCode: status = 0, headers } = response;
      try {
        resolve({ status, headers, text: await readText(response) });
      } catch (error) {
        reject(error);
      }
    });
  });

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
export const parse = (text: string): Record<string, unknown> => {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
};
