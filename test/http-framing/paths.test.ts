import { type Case, runCases } from './support/cases.ts';
import { get, lines } from './support/requests.ts';

const answered = (rule: string, path: string, ...statuses: number[]): Case => ({
  rule,
  text: `GET ${JSON.stringify(path)} is answered ${statuses.join(' or ')}`,
  send: get(path),
  answers: [statuses],
  closes: false,
});

/** Creates a case with an ambiguous path that is rejected or not found, and that never serves a file. */
const nothingThere = (rule: string, path: string): Case => ({
  rule,
  text: `${JSON.stringify(path)} is not found`,
  send: get(path, 'Connection: close'),
  answers: [[400, 404]],
  closes: true,
});

const ways = [
  ...[
    '..',
    '%2e%2e',
    '.%2e',
    '%2E%2E',
    '..%2f',
    '..%5c',
    '..\\',
    '%252e%252e',
    '..%00',
    '..;',
    '%c0%ae%c0%ae',
    '%uff0e%uff0e',
  ],
];

const cases: Case[] = [
  ...ways.flatMap((up) => [
    nothingThere('3986 5.2.4', `/docs/${up}/package.json`),
    nothingThere('3986 5.2.4', `/docs/${up}/${up}/${up}/${up}/${up}/${up}/${up}/etc/passwd`),
    nothingThere('3986 5.2.4', `/docs/x/${up}/${up}/package.json`),
  ]),
  nothingThere('3986 5.2.4', '/../../etc/passwd'),
  nothingThere('3986 5.2.4', '/docs//etc/passwd'),
  nothingThere('3986 5.2.4', '/docs/%2fetc/passwd'),
  nothingThere('3986 5.2.4', '/docs/./package.json'),
  nothingThere('3986 5.2.4', '/docs/file:///etc/passwd'),
  nothingThere('3986 5.2.4', '/docs/C:%5cwindows%5cwin.ini'),
  nothingThere('3986 5.2.4', '/docs/index.html%00.png'),
  nothingThere('3986 5.2.4', '/docs/index.html/'),
  nothingThere('3986 5.2.4', '/docs\\index.html'),
  nothingThere('3986 5.2.4', '/docs/.git/config'),
  nothingThere('3986 5.2.4', '/DOCS/'),
  answered('3986 2.1', '/api/tasks/%31', 200),
  answered('3986 2.1', '/api/t%61sks/1', 200),
  answered('3986 2.1', '/api/tasks/1%00', 404),
  answered('3986 2.1', '/api/tasks/%2531', 404),
  answered('3986 2.1', '/api%2ftasks', 404),
  answered('3986 2.1', '/api/tasks/1%2f2', 404),
  answered('3986 2.1', '/api/tasks/%2e%2e', 404),
  answered('3986 2.1', `/api/tasks/${'9'.repeat(10_000)}`, 404),
  ...['%', '%z', '%zz', '%1', '%e4', '%c0%af', '%ff', '%u0031', '%ed%a0%80', '%f5%80%80%80'].map((bad) =>
    answered('3986 2.1', `/api/tasks/${bad}`, 400),
  ),
  ...['?%', '?limit=%zz', '?%00', '?status=%ff', '?=', '?&&', '?__proto__=x', '?constructor[prototype]=x'].map(
    (query) => answered('3986 3.4', `/api/tasks${query}`, 200, 400),
  ),
  answered('3986 3.3', '//api/tasks', 404),
  answered('3986 3.3', '/api//tasks', 404),
  answered('3986 3.3', '/api/./tasks', 404),
  answered('3986 3.3', '/api/x/../tasks', 404),
  answered('3986 3.3', '/api/tasks;v=1', 404),
  answered('3986 3.3', '/;/api/tasks', 404),
  answered('3986 3.3', '/api/tasks/', 404),
  {
    rule: '9110 15.5.1',
    text: 'a path that cannot be decoded is rejected whatever the method',
    send: lines('PROPFIND /%zz HTTP/1.1', 'Host: localhost'),
    answers: [[400]],
    closes: false,
  },
  {
    rule: '9110 15.5.1',
    text: 'a request from a foreign page is rejected before the path is decoded',
    send: get('/%zz', 'Origin: https://evil.example'),
    answers: [[403]],
    closes: false,
  },
];

runCases('paths are matched as written', cases);
