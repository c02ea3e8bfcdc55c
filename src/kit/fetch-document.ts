import { once } from 'node:events';
import { type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { MiB } from '../lib/units.ts';

interface FetchOptions extends Pick<RequestOptions, 'lookup'> {
  /** Media type. */
  accept: string;
  maxBytes: number;
  signal: AbortSignal;
  /** Names of the server and the document in messages. */
  server: string;
  document: string;
}

/**
 * Reads a document over HTTP. Rejects with an Error for any status except 200, and for a document that is too long.
 * Rejects with the reason of the signal if the signal has ended the request.
 */
export const fetchDocument = (url: URL, options: FetchOptions): Promise<string> =>
  request(url, options).catch((error) => {
    throw options.signal.aborted ? options.signal.reason : error;
  });

const request = async (url: URL, options: FetchOptions): Promise<string> => {
  const { accept, maxBytes, signal, server, document, lookup } = options;
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  const sent = send(url, { signal, headers: { 'user-agent': 'signalbox', accept }, ...(lookup && { lookup }) });
  sent.on('error', () => undefined);
  const [response]: IncomingMessage[] = await once(sent.end(), 'response', { signal });
  if (!response) throw new Error(`${server} did not respond`);
  try {
    if (response.statusCode !== 200) throw new Error(`${server} responded ${response.statusCode}`);
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new Error(`${document} is longer than ${maxBytes / MiB} MiB`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString();
  } finally {
    response.destroy();
  }
};
