import { type Case, runCases } from './support/cases.ts';
import { get, lines } from './support/requests.ts';

const refused = (rule: string, text: string, send: string, ...statuses: number[]): Case => ({
  rule,
  text,
  send,
  answers: [statuses.length > 0 ? statuses : [400]],
  closes: true,
});

const answered = (rule: string, text: string, send: string): Case => ({
  rule,
  text,
  send,
  answers: [[200]],
  closes: false,
});

const path = '/api/tasks/1';

/** Bytes: 16 KiB minus the request line, Host and the longest header. */
const nearLimit = 15_000;

const cases: Case[] = [
  refused('9112 5.1', 'a space before the colon is rejected', get(path, 'X : y')),
  refused('9112 5.1', 'a tab before the colon is rejected', get(path, 'X\t: y')),
  refused(
    '9112 5.1',
    'a space before the colon of Host is rejected',
    lines(`GET ${path} HTTP/1.1`, 'Host : localhost'),
  ),
  refused('9112 5.1', 'a space before the colon of Content-Length is rejected', get(path, 'Content-Length : 0')),
  refused('9112 5.2', 'a folded header is rejected', get(path, 'X: y', ' z')),
  refused('9112 5.2', 'a header folded with a tab is rejected', get(path, 'X: y', '\tz')),
  refused('9112 5.2', 'a folded Transfer-Encoding is rejected', get(path, 'Transfer-Encoding:', ' chunked')),
  refused('9112 5', 'a line without a colon is rejected', get(path, 'X y')),
  refused('9112 5', 'a header without a name is rejected', get(path, ': y')),
  ...[
    'X(y)',
    'X y',
    'X"y"',
    'X/y',
    'X@y',
    'X[y]',
    'X{y}',
    'X,y',
    'X;y',
    'X=y',
    'X?y',
    'X\\y',
    'Xé',
    'X\x7f',
    'X\0',
  ].map((name) => refused('9110 5.1', `the header name ${JSON.stringify(name)} is rejected`, get(path, `${name}: z`))),
  ...['\0', '\r', '\n', '\x01', '\x08', '\x0b', '\x0c', '\x1b', '\x7f'].map((character) =>
    refused('9110 5.5', `${JSON.stringify(character)} in a header value is rejected`, get(path, `X: a${character}b`)),
  ),
  refused('9112 2.2', 'a header line may not end in LF alone', `GET ${path} HTTP/1.1\r\nHost: localhost\nX: y\r\n\r\n`),
  refused('9112 2.2', 'a header line may not end in CR alone', `GET ${path} HTTP/1.1\r\nHost: localhost\rX: y\r\n\r\n`),
  refused(
    '9112 2.2',
    'the empty line that ends the headers may not be LF alone',
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\nX`,
  ),
  refused('9112 2.2', 'LF CR does not end a line', `GET ${path} HTTP/1.1\r\nHost: localhost\n\rX: y\r\n\r\n`),
  answered(
    '9112 5',
    'white space around a value are not part of it',
    lines(`GET ${path} HTTP/1.1`, 'Host: \t localhost \t '),
  ),
  answered('9112 5', 'a value needs no space before it', lines(`GET ${path} HTTP/1.1`, 'Host:localhost')),
  answered('9110 5.1', 'header names may be in any case', lines(`GET ${path} HTTP/1.1`, 'hOsT: localhost')),
  answered('9110 5.5', 'a value may be empty', get(path, 'X:')),
  answered('9110 5.5', 'a value may hold any non-ASCII byte', get(path, 'X: \x80\xff')),
  answered('9110 5.3', 'a header may be repeated', get(path, 'X: y', 'X: z')),
  answered('9110 5.4', '200 header lines are read', get(path, ...Array(199).fill('a:'))),
  refused('9110 5.4', 'more than 200 header lines are rejected', get(path, ...Array(200).fill('a:')), 431),
  answered('9110 5.4', 'a header may be long', get(path, `X: ${'y'.repeat(nearLimit)}`)),
  refused('9110 5.4', 'a header beyond 16 KiB is rejected', get(path, `X: ${'y'.repeat(20_000)}`), 431),
  refused('9110 5.4', 'a header name beyond 16 KiB is rejected', get(path, `${'X'.repeat(20_000)}: y`), 431),
  refused(
    '9110 5.4',
    'headers that exceed 16 KiB together are rejected',
    get(path, ...Array(300).fill(`X: ${'y'.repeat(100)}`)),
    431,
  ),
  refused(
    '9110 5.4',
    'endless headers are rejected',
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${'X: yyyyyyyy\r\n'.repeat(20_000)}`,
    431,
  ),
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty'].map((name) =>
    answered('9110 5.1', `the header name ${name} has no special meaning`, get(path, `${name}: y`, `${name}: z`)),
  ),
];

runCases('header fields follow RFC 9110, 5', cases);
