import { type Case, runCases } from './support/cases.ts';
import { get, hidden, post, task } from './support/requests.ts';

const body = task('x');
const size = body.length.toString(16);
const head = post('Transfer-Encoding: chunked');
const last = '0\r\n\r\n';

/** Creates a case with a chunk whose size line is rejected. */
const badSize = (text: string, line: string): Case => ({
  rule: '9112 7.1',
  text,
  send: `${head}${line}\r\n${body}\r\n${last}`,
  answers: [[400]],
  closes: true,
});

/** Creates a case with a chunked message that is accepted. */
const good = (rule: string, text: string, chunks: string): Case => ({
  rule,
  text,
  send: head + chunks,
  answers: [[201]],
  closes: false,
});

const bad = (rule: string, text: string, chunks: string, ...statuses: number[]): Case => ({
  rule,
  text,
  send: head + chunks,
  answers: [statuses.length > 0 ? statuses : [400]],
  closes: true,
});

const cases: Case[] = [
  good('9112 7.1', 'a body may come in many chunks', `${[...body].map((each) => `1\r\n${each}\r\n`).join('')}${last}`),
  good('9112 7.1', 'a chunk size may be in upper case', `${size.toUpperCase()}\r\n${body}\r\n${last}`),
  good('9112 7.1', 'a chunk size may have leading zeros', `000${size}\r\n${body}\r\n${last}`),
  good('9112 7.1', 'the last chunk may have several zeros', `${size}\r\n${body}\r\n000\r\n\r\n`),
  badSize('a size of 0x… is rejected', `0x${size}`),
  badSize('a negative size is rejected', `-${size}`),
  badSize('a signed size is rejected', `+${size}`),
  badSize('an empty size is rejected', ''),
  badSize('a size that is not a number is rejected', 'zz'),
  badSize('a size beyond 64 bits is rejected', `1${'0'.repeat(15)}${size.padStart(2, '0')}`),
  badSize('a size of 16 digits that wraps round is rejected', 'ffffffffffffffff0'),
  badSize('a size with a blank before it is rejected', ` ${size}`),
  badSize('a size with a blank behind it is rejected', `${size} `),
  badSize('a size with a NUL behind it is rejected', `${size}\0`),
  bad('9112 7.1', 'a size line that ends in LF alone is rejected', `${size}\n${body}\r\n${last}`),
  bad('9112 7.1', 'a size line that ends in CR alone is rejected', `${size}\r${body}\r\n${last}`),
  bad('9112 7.1', 'a chunk that ends in LF alone is rejected', `${size}\r\n${body}\n${last}`),
  bad('9112 7.1', 'a chunk that is longer than its size is rejected', `${size}\r\n${body}xx\r\n${last}`),
  bad('9112 7.1', 'a chunk that is shorter than its size is rejected', `${size}\r\n${body.slice(2)}\r\n${last}x`),
  bad('9112 7.1', 'a last chunk that ends in LF alone is rejected', `${size}\r\n${body}\r\n0\n\n`),
  good('9112 7.1.1', 'a chunk extension is ignored', `${size};name=value\r\n${body}\r\n${last}`),
  good('9112 7.1.1', 'a chunk extension may be quoted', `${size};name="a;b"\r\n${body}\r\n${last}`),
  bad('9112 7.1.1', 'a chunk extension with a LF in it hides no chunk', `${size};a\n${body}\r\n${last}`),
  bad('9112 7.1.1', 'a chunk extension with a CR in it is rejected', `${size};a\rb\r\n${body}\r\n${last}`),
  bad('9112 7.1.1', 'endless chunk extensions are rejected', `${size};${'a'.repeat(20_000)}`, 413),
  good('9112 7.1.2', 'trailers are ignored', `${size}\r\n${body}\r\n0\r\nX-Sum: 1\r\n\r\n`),
  good(
    '9110 6.5.1',
    'a Host among the trailers changes nothing',
    `${size}\r\n${body}\r\n0\r\nHost: evil.example\r\n\r\n`,
  ),
  bad(
    '9110 6.5.1',
    'a Content-Length among the trailers is rejected',
    `${size}\r\n${body}\r\n0\r\nContent-Length: 4\r\n\r\n`,
  ),
  bad(
    '9110 6.5.1',
    'a Transfer-Encoding among the trailers is rejected',
    `${size}\r\n${body}\r\n0\r\nTransfer-Encoding: x\r\n\r\n`,
  ),
  bad(
    '9112 7.1.2',
    'endless trailers are rejected',
    `${size}\r\n${body}\r\n0\r\n${'X: yyyyyyy\r\n'.repeat(4000)}\r\n`,
    431,
  ),
  bad('9112 7.1.2', 'a malformed trailer is rejected', `${size}\r\n${body}\r\n0\r\nX y\r\n\r\n`),
  {
    rule: '9112 7.1',
    text: 'the next request begins after the last chunk',
    send: `${head}${size}\r\n${body}\r\n${last}${get('/api/tasks/1')}`,
    answers: [[201], [200]],
    closes: false,
  },
  {
    rule: '9112 7.1',
    text: 'a request inside a chunk is content',
    send: `${head}${hidden.length.toString(16)}\r\n${hidden}\r\n${last}`,
    answers: [[400]],
    closes: false,
  },
  {
    rule: '9110 15.5.14',
    text: 'chunks beyond the body limit are rejected',
    send: `${head}${`10000\r\n${'x'.repeat(65_536)}\r\n`.repeat(17)}`,
    answers: [[413]],
    closes: true,
  },
];

runCases('chunked bodies follow RFC 9112, 7', cases);
