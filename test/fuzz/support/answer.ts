export interface Answer {
  status: number;
  /** Names in lower case. */
  headers: Map<string, string>;
  body: Buffer;
  /** Bytes that belong to no answer. */
  rest: Buffer;
}

/**
 * The first answer in what was received, interim ones left out; undefined while it is not whole. Throws where it is no
 * answer of HTTP/1.1. `ended` says that no more will come.
 */
export const parseAnswer = (received: Buffer, isHead: boolean, ended: boolean): Answer | undefined => {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = received.toString('latin1', 0, end).split('\r\n');
  const status = Number(/^HTTP\/1\.1 ([1-5]\d\d) /.exec(first)?.[1]);
  if (!status) throw new Error(`no status line: ${JSON.stringify(first)}`);
  const after = received.subarray(end + 4);
  if (status < 200) return parseAnswer(after, isHead, ended);
  const headers = toHeaders(lines);
  const cut = isHead || status === 204 || status === 304 ? 0 : findEnd(after, headers, ended);
  if (cut === undefined) return undefined;
  const isChunked = cut > 0 && headers.get('transfer-encoding') === 'chunked';
  const body = after.subarray(0, cut);
  return { status, headers, body: isChunked ? joinChunks(body) : body, rest: after.subarray(cut) };
};

const toHeaders = (lines: string[]): Map<string, string> => {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = /^([\w!#$%&'*+.^`|~-]+): ?(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new Error(`no header: ${JSON.stringify(line)}`);
    if (headers.has(name.toLowerCase())) throw new Error(`the header ${name} is there twice`);
    headers.set(name.toLowerCase(), value);
  }
  return headers;
};

/** Where the body ends in the bytes after the head; undefined while it does not. */
const findEnd = (after: Buffer, headers: Map<string, string>, ended: boolean): number | undefined => {
  const length = headers.get('content-length');
  if (length !== undefined) return after.length < Number(length) ? undefined : Number(length);
  if (headers.get('transfer-encoding') === 'chunked') return findLastChunk(after);
  return ended ? after.length : undefined;
};

const findLastChunk = (after: Buffer): number | undefined => {
  for (let at = 0; ; ) {
    const lineEnd = after.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const length = Number.parseInt(after.toString('latin1', at, lineEnd), 16);
    at = lineEnd + 2 + length + 2;
    if (!(at <= after.length)) return undefined;
    if (length === 0) return at;
  }
};

const joinChunks = (chunked: Buffer): Buffer => {
  const chunks: Buffer[] = [];
  for (let at = 0; at < chunked.length; ) {
    const lineEnd = chunked.indexOf('\r\n', at);
    const length = Number.parseInt(chunked.toString('latin1', at, lineEnd), 16);
    chunks.push(chunked.subarray(lineEnd + 2, lineEnd + 2 + length));
    at = lineEnd + 2 + length + 2;
  }
  return Buffer.concat(chunks);
};
