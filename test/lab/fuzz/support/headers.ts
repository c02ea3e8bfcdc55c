import fc from 'fast-check';

export type Header = [name: string, value: string];

/** Placeholders for tokens in header values, needed because real tokens expire. */
export const tokenNames = ['admin', 'reader', 'expired', 'future', 'forged', 'unsigned', 'nobody'] as const;

const oddTokens = [
  ...['', 'Bearer', 'Bearer ', 'bearer {admin}', '{admin}', 'Bearer  {admin}', 'Bearer Bearer {admin}', 'Basic YTpi'],
  ...['Bearer {admin}.', 'Bearer {admin}=', 'Bearer {admin}, Bearer {reader}', 'Bearer .{admin}', 'Bearer ..'],
  ...['Bearer a.b.c', `Bearer ${'a'.repeat(5000)}.b.c`, 'Bearer \xff.\xfe.\xfd', 'Bearer null', 'Bearer e30.e30.e30'],
  ...tokenNames.map((name) => `Bearer {${name}}`),
];

const oddHosts = [
  '',
  'evil.example',
  'localhost:99999',
  'localhost.',
  '127.0.0.1',
  '[::1]:80',
  'a b',
  'user@localhost',
  '\xff',
];

const oddHeaders: Header[] = [
  ['Origin', 'null'],
  ['Origin', 'http://localhost'],
  ['Origin', 'https://evil.example'],
  ['Origin', '\xff'],
  ['Sec-Fetch-Site', 'cross-site'],
  ['Sec-Fetch-Site', 'none'],
  ['Content-Type', 'text/plain'],
  ['Content-Type', 'application/json; charset=utf-16'],
  ['Content-Type', ''],
  ['Content-Type', 'multipart/form-data'],
  ['Content-Encoding', 'gzip'],
  ['Content-Length', '0'],
  ['Content-Length', '-1'],
  ['Content-Length', '1e3'],
  ['Content-Length', '99999999999999999999'],
  ['Transfer-Encoding', 'gzip'],
  ['Transfer-Encoding', 'chunked, identity'],
  ['Transfer-Encoding', 'chunked'],
  ['Transfer-Encoding', ''],
  ['Expect', '100-continue'],
  ['Expect', 'a miracle'],
  ['Connection', 'close'],
  ['Connection', 'Upgrade'],
  ['Upgrade', 'h2c'],
  ['Accept', 'text/html'],
  ['Accept-Encoding', 'gzip;q=x'],
  ['Range', 'bytes=5-1'],
  ['Range', 'bytes=0-3'],
  ['If-None-Match', '*'],
  ['If-Modified-Since', 'yesterday'],
  ['If-Match', '"x"'],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['X-Forwarded-Host', 'evil.example'],
  ['X-Request-Id', 'a"b'],
  ['Cookie', '__proto__=1'],
  ['__proto__', 'x'],
  ['X Y', 'a space in the name'],
  ['X-Fold', 'a\r\n b'],
  ['X-Null', '\0'],
  ['X-Text', '\x80\xff'],
  ['X-Large', 'x'.repeat(20_000)],
  ['', 'no name'],
];

const many: Header[] = Array.from({ length: 1500 }, (_, index) => [`x-${index}`, '']);

export const plainHeaders: Header[] = [['Host', 'localhost']];

export const bearer = (name: (typeof tokenNames)[number]): Header => ['Authorization', `Bearer {${name}}`];

/** Header with a valid, invalid or missing token. */
export const oddAuthorization: fc.Arbitrary<Header> = fc
  .constantFrom(...oddTokens)
  .map((value) => ['Authorization', value]);

/** Headers with at least one unusual entry. */
export const hostileHeaders: fc.Arbitrary<Header[]> = fc
  .tuple(
    fc.oneof(
      { weight: 6, arbitrary: fc.constant(plainHeaders) },
      { weight: 2, arbitrary: fc.constantFrom(...oddHosts).map((host): Header[] => [['Host', host]]) },
      { weight: 1, arbitrary: fc.constantFrom<Header[][]>([], [...plainHeaders, ...plainHeaders]) },
    ),
    fc.option(fc.oneof(oddAuthorization, fc.constant(bearer('admin')))),
    fc.oneof(
      { weight: 40, arbitrary: fc.array(fc.constantFrom(...oddHeaders), { maxLength: 3 }) },
      { weight: 1, arbitrary: fc.constant(many) },
    ),
  )
  .map(([host, token, others]) => [...host, ...(token ? [token] : []), ...others]);
