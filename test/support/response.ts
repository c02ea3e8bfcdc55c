/** Response as received, without interim responses. */
export interface HttpResponse {
  status: number;
  /** Headers with names in lower case. */
  headers: Map<string, string>;
  body: Buffer;
}

interface Circumstances {
  /** True for the response to a HEAD request, because it has no body. */
  isHead?: boolean;
  /** True once the server has closed the connection. */
  ended?: boolean;
}

/**
 * Parses the first response in the bytes, and returns it with the remaining bytes. Undefined while the response is
 * incomplete. Throws if the response violates RFC 9112.
 */
export const parseResponse = (
  bytes: Buffer,
  { isHead = false, ended = false }: Circumstances = {},
): { response: HttpResponse; rest: Buffer } | undefined => {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const status = Number(/^HTTP\/1\.1 ([1-5]\d\d) [\t -~]*$/.exec(first)?.[1]);
  if (Number.isNaN(status)) throw new Error(`no status line: ${JSON.stringify(first)}`);
  const after = bytes.subarray(end + 4);
  if (status < 200 && status !== 101) return parseResponse(after, { isHead, ended });
  const headers = parseHeaders(lines);
  const hasBody = !isHead && status !== 204 && status !== 304;
  const content = hasBody ? readBody(after, headers, ended) : { body: Buffer.alloc(0), rest: after };
  return content && { response: { status, headers, body: content.body }, rest: content.rest };
};

const parseHeaders = (lines: string[]): Map<string, string> => {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = /^([\w!#$%&'*+.^`|~-]+): ?([\t -~\x80-\xff]*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new Error(`no header: ${JSON.stringify(line)}`);
    if (headers.has(name.toLowerCase())) throw new Error(`the header ${name} is there twice`);
    headers.set(name.toLowerCase(), value);
  }
  return headers;
};

type Content = { body: Buffer; rest: Buffer } | undefined;

const readBody = (bytes: Buffer, headers: Map<string, string>, ended: boolean): Content => {
  const coding = headers.get('transfer-encoding');
  const length = headers.get('content-length');
  if (coding !== undefined && length !== undefined) throw new Error('the length is given twice');
  if (coding !== undefined) {
    if (coding !== 'chunked') throw new Error(`no transfer coding: ${coding}`);
    return readChunks(bytes);
  }
  if (length === undefined) return ended ? { body: bytes, rest: Buffer.alloc(0) } : undefined;
  if (!/^\d+$/.test(length)) throw new Error(`no length: ${JSON.stringify(length)}`);
  return bytes.length < Number(length) ? undefined : split(bytes, Number(length));
};

const split = (bytes: Buffer, at: number) => ({ body: bytes.subarray(0, at), rest: bytes.subarray(at) });

const readChunks = (bytes: Buffer): Content => {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const line = bytes.toString('latin1', at, lineEnd);
    if (!/^[\da-f]+$/i.test(line)) throw new Error(`no length of a chunk: ${JSON.stringify(line)}`);
    const start = lineEnd + 2;
    const end = start + Number.parseInt(line, 16);
    if (bytes.length < end + 2) return undefined;
    if (bytes.toString('latin1', end, end + 2) !== '\r\n') throw new Error('a chunk does not end');
    if (end === start) return { body: Buffer.concat(chunks), rest: bytes.subarray(end + 2) };
    chunks.push(bytes.subarray(start, end));
    at = end + 2;
  }
};
