import { createReadStream } from 'node:fs';
import { otherVariables } from '../../../config/names.ts';
import { MiB } from '../../../lib/units.ts';
import { UsageError } from '../../args.ts';
import { explainSystemError, readInput } from '../../stdio.ts';
import { ImportError } from './documents.ts';

const timeoutMs = 30_000;

/** Maximum size in bytes of a file or response, and maximum number of requests in a download. */
const maxBytes = 32 * MiB;
const mostRequests = 500;

/** Requests to another program's API. Accepts paths below its address, and absolute addresses on the same server. */
export interface Download {
  get(path: string): Promise<unknown>;
  post(path: string, body: object): Promise<unknown>;
  now: Date;
}

/** Parses JSON. Throws an ImportError if the text is invalid. */
export const parseExport = (text: string, place: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new ImportError(`${place} is not JSON`);
  }
};

export const isUrl = (source: string): boolean => /^https?:\/\//i.test(source);

/** Reads a file of another program. Rejects with an ImportError if the file is unusable. */
export const readExport = async (path: string, limit = maxBytes): Promise<Buffer> => {
  const bytes = await readInput(createReadStream(path), limit).catch((error: NodeJS.ErrnoException) => {
    throw new ImportError(explainSystemError(error));
  });
  if (bytes === undefined) throw new ImportError(`the file is larger than ${limit / MiB} MiB`);
  return bytes;
};

/**
 * Prepares requests to another program, using the key from the environment. If there is no key, throws a UsageError
 * with `keyAdvice`.
 */
export const openDownload = (
  source: string,
  toHeaders: (key: string) => Record<string, string>,
  keyAdvice?: string,
): Download => {
  if (!URL.canParse(source)) throw new UsageError('the address is not a URL');
  const key = process.env[otherVariables.importKey]?.trim();
  if (!key) {
    const advice = keyAdvice === undefined ? '' : `; ${keyAdvice}`;
    throw new UsageError(`set ${otherVariables.importKey} to a key of the other program${advice}`);
  }
  if (!/^[!-~]+$/.test(key)) throw new UsageError(`${otherVariables.importKey} must be printable ASCII`);
  return createDownload(new URL(source), toHeaders(key));
};

const createDownload = (base: URL, headers: Record<string, string>): Download => {
  let requests = 0;
  const send = async (path: string, init: RequestInit): Promise<unknown> => {
    const url = path.startsWith('/') ? new URL(base.href.replace(/\/$/, '') + path) : new URL(path, base);
    // The key must not be sent to any other server.
    if (url.origin !== base.origin) throw new ImportError(`the next page is on another server: ${url.origin}`);
    requests += 1;
    if (requests > mostRequests) throw new ImportError(`the export has more than ${mostRequests} pages`);
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, {
      ...init,
      signal,
      redirect: 'error',
      headers: { ...headers, ...init.headers },
    }).catch((error: Error) => {
      const { cause } = error as { cause?: { message?: string } };
      throw new ImportError(`${url.origin}${url.pathname}: ${cause?.message ?? error.message}`);
    });
    const text = await readText(response, url);
    if (!response.ok) throw new ImportError(`${url.origin}${url.pathname} responded ${response.status}`);
    return parseExport(text, `${url.origin}${url.pathname}`);
  };
  return {
    get: (path) => send(path, {}),
    post: (path, body) =>
      send(path, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    now: new Date(),
  };
};

const readText = async ({ body }: Response, { origin, pathname }: URL): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body ?? []) {
      bytes += chunk.length;
      if (bytes > maxBytes) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw new ImportError(`${origin}${pathname}: ${(error as Error).message}`);
  }
  if (bytes > maxBytes) throw new ImportError(`${origin}${pathname} sent more than ${maxBytes / MiB} MiB`);
  return Buffer.concat(chunks).toString();
};
