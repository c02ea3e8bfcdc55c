/**
 * Request to be sent. Every string represents bytes, one per character up to U+00FF, so that a request can be stored as
 * JSON. In header values, placeholders such as `{admin}` represent tokens, because tokens in a file would expire.
 */
export interface FuzzRequest {
  /** Source of the request: the schemas, the schemas except for one part, or arbitrary bytes. */
  kind: 'valid' | 'near' | 'hostile';
  method: string;
  target: string;
  /** HTTP version. Default: `HTTP/1.1`. */
  version?: string;
  headers: [name: string, value: string][];
  body?: string;
  /** End of the body: by its length, in chunks, or early because the connection ends. */
  framing: 'length' | 'chunked' | 'cut' | 'cut-chunk';
}

/** Returns UTF-8 as a string of bytes. A lone surrogate becomes U+FFFD. */
export const toBytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** Returns the bytes of the request. `resolve` fills in the tokens. */
export const writeRequest = (
  { method, target, version = 'HTTP/1.1', headers, body, framing }: FuzzRequest,
  resolve: (value: string) => string,
): Buffer => {
  const lines = [
    `${method} ${target} ${version}`,
    ...headers.map(([name, value]) => `${name}: ${resolve(value)}`),
    ...describeBody(body, framing),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${writeBody(body, framing)}`, 'latin1');
};

/** True if the request is never completed. */
export const isUnfinished = ({ framing }: FuzzRequest): boolean => framing.startsWith('cut');

/** True if the request may leave its connection unusable for other requests. */
export const needsOwnConnection = (request: FuzzRequest): boolean =>
  isUnfinished(request) ||
  request.version !== undefined ||
  /[\r\n]/.test(request.method + request.target) ||
  request.headers.some(
    ([name, value]) =>
      /^(content-length|transfer-encoding|connection|upgrade|expect|)$|[^\w-]/i.test(name) || /[\r\n]/.test(value),
  );

const describeBody = (body: string | undefined, framing: FuzzRequest['framing']): string[] => {
  if (framing === 'chunked' || framing === 'cut-chunk') return ['Transfer-Encoding: chunked'];
  if (framing === 'cut') return [`Content-Length: ${(body ?? '').length + 7}`];
  return body === undefined ? [] : [`Content-Length: ${body.length}`];
};

const writeBody = (body = '', framing: FuzzRequest['framing']): string => {
  if (framing === 'length' || framing === 'cut') return body;
  const middle = Math.ceil(body.length / 2);
  const chunks = [body.slice(0, middle), body.slice(middle)]
    .filter((chunk) => chunk !== '')
    .map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
    .join('');
  return framing === 'chunked' ? `${chunks}0\r\n\r\n` : `${chunks}ff\r\n{`;
};
