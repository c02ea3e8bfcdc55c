import { type Case, runCases } from './support/cases.ts';
import { lines } from './support/requests.ts';

const ask = (...headers: string[]): string => lines('GET /api/tasks/1 HTTP/1.1', ...headers);

/** Returns a request with one Host header. */
const host = (value: string): string => ask(`Host: ${value}`);

const invalid = (rule: string, text: string, send: string): Case => ({
  rule,
  text,
  send,
  answers: [[400]],
  closes: true,
});

const served = (value: string): Case => ({
  rule: '9110 7.2',
  text: `the host ${value} is this machine`,
  send: host(value),
  answers: [[200]],
  closes: false,
});

const foreign = (value: string): Case => ({
  rule: '9110 7.2',
  text: `the host ${value} is not served`,
  send: host(value),
  answers: [[403]],
  closes: false,
});

const cases: Case[] = [
  invalid('9112 3.2', 'a request without Host is rejected', ask()),
  invalid('9112 3.2', 'two equal Host headers are rejected', ask('Host: localhost', 'Host: localhost')),
  invalid('9112 3.2', 'a second, different Host is rejected', ask('Host: localhost', 'Host: evil.example')),
  invalid(
    '9112 3.2',
    'a second Host is rejected even if the first one is foreign',
    ask('Host: evil.example', 'hOST: localhost'),
  ),
  invalid('9112 3.2', 'a second Host that is empty is rejected', ask('Host: localhost', 'Host:')),
  invalid(
    '9112 3.2',
    'a second Host after many headers is rejected',
    ask('Host: localhost', ...Array(190).fill('a:'), 'Host: x'),
  ),
  ...[
    '',
    'localhost, evil.example',
    'localhost evil.example',
    'user@localhost',
    'localhost/',
    'localhost:80x',
    'localhost:80:80',
    'localhost:-1',
    '[::1',
    '::1',
    '[::1]x',
    '[localhost]',
    'http://localhost',
    'localhost?',
    'localhost#',
    'local\\host',
    '"localhost"',
    'l\xf6calhost',
  ].map((value) => invalid('9112 3.2', `a Host of ${JSON.stringify(value)} is rejected`, host(value))),
  ...[
    'localhost',
    'LOCALHOST:1',
    'localhost.',
    'localhost:',
    '127.0.0.1:8080',
    '127.255.0.1',
    '[::1]:80',
    '[::ffff:127.0.0.1]',
    '127.0.0.1.',
  ].map(served),
  ...[
    'evil.example',
    'localhost.evil.example',
    'evil.localhost..',
    'localhost..',
    '127.0.0.1.evil.example',
    '128.0.0.1',
    '127.1',
    '0x7f.0.0.1',
    '2130706433',
    '0.0.0.0',
    '[::]',
    '[::2]',
    '[::ffff:10.0.0.1]',
    '%6cocalhost',
    'localhost%00',
    '_',
  ].map(foreign),
  {
    rule: '9112 3.2',
    text: 'HTTP/1.0 needs a Host too on a server bound to loopback',
    send: lines('GET /api/tasks/1 HTTP/1.0'),
    answers: [[403]],
    closes: true,
  },
  {
    rule: '6454 7',
    text: 'an origin is compared with the host, even one that is invalid in a URL',
    send: ask('Host: local%host', 'Origin: http://local%host'),
    answers: [[403]],
    closes: false,
  },
  {
    rule: '9110 7.2',
    text: 'X-Forwarded-Host changes nothing',
    send: ask('Host: evil.example', 'X-Forwarded-Host: localhost', 'Forwarded: host=localhost'),
    answers: [[403]],
    closes: false,
  },
  {
    rule: '9112 3.2',
    text: 'the host is checked before the path is decoded',
    send: lines('GET /%zz HTTP/1.1', 'Host: evil.example'),
    answers: [[403]],
    closes: false,
  },
  {
    rule: '9112 3.2',
    text: 'two Host headers are rejected before the path is decoded',
    send: lines('GET /%zz HTTP/1.1', 'Host: localhost', 'Host: localhost'),
    answers: [[400]],
    closes: true,
  },
];

runCases('the Host header follows RFC 9112, 3.2', cases);
