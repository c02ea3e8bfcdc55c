import { type Case, runCases } from './support/cases.ts';
import { get, hidden, lines } from './support/requests.ts';

/** A request line, with Host. */
const line = (text: string, ...headers: string[]): string => lines(text, 'Host: localhost', ...headers);

const refused = (rule: string, text: string, send: string, ...statuses: number[]): Case => ({
  rule,
  text,
  send,
  answers: [statuses],
  closes: true,
});

const answered = (rule: string, text: string, send: string, ...statuses: number[]): Case => ({
  rule,
  text,
  send,
  answers: [statuses],
  closes: false,
});

const versions: Case[] = [
  ...['0.9', '1.2', '1.9', '2.0', '3.0', '9.9'].map((version) =>
    refused('9110 15.6.6', `HTTP/${version} is not spoken`, line(`GET /api/tasks/1 HTTP/${version}`), 505),
  ),
  refused(
    '9113 3.4',
    'a client that speaks HTTP/2 at once is told so',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    505,
  ),
  refused('9112 2.3', 'a request without a version is refused', lines('GET /api/tasks/1'), 400, 505),
  ...['1.10', '1', '1.', '.1', '1.1.1', '11', '1,1', 'x.y', '1.1 '].map((version) =>
    refused(
      '9112 2.3',
      `a version ${JSON.stringify(version)} is malformed`,
      line(`GET /api/tasks/1 HTTP/${version}`),
      400,
    ),
  ),
  refused('9112 2.3', 'the name HTTP is in upper case', line('GET /api/tasks/1 http/1.1'), 400),
  refused('9112 2.3', 'another protocol is refused', line('GET /api/tasks/1 HTCPCP/1.0'), 400),
  refused('9112 2.3', 'HTTP/1.0 is answered, and closed', line('GET /api/tasks/1 HTTP/1.0'), 200),
];

const methods: Case[] = [
  ...['FOO', 'GETT', 'get', 'G-E_T', 'X'.repeat(40)].map((method) =>
    refused('9110 9.1', `the method ${method} is not known`, line(`${method} /api/tasks HTTP/1.1`), 501),
  ),
  ...['G(ET', 'GE"T', '', 'GÉT'].map((method) =>
    refused(
      '9110 9.1',
      `the method ${JSON.stringify(method)} is malformed`,
      line(`${method} /api/tasks HTTP/1.1`),
      400,
    ),
  ),
  ...['TRACE', 'PROPFIND', 'PATCH', 'OPTIONS', 'QUERY', 'PURGE', 'M-SEARCH'].map((method) =>
    answered(
      '9110 15.5.6',
      `the method ${method} is not allowed here`,
      line(`${method} /api/tasks HTTP/1.1`),
      405,
      400,
    ),
  ),
  refused(
    '9110 9.3.6',
    'CONNECT is not allowed',
    lines('CONNECT localhost:80 HTTP/1.1', 'Host: localhost:80'),
    405,
  ),
  refused(
    '9110 9.3.6',
    'what follows CONNECT is not looked at',
    line('CONNECT localhost:80 HTTP/1.1') + hidden,
    405,
  ),
  answered(
    '9110 9.3.8',
    'a method cannot be replaced by a header',
    get('/api/tasks/1', 'X-HTTP-Method-Override: DELETE'),
    200,
  ),
];

const targets: Case[] = [
  answered('9112 3.2.2', 'a whole URI is a target', line('GET http://localhost/api/tasks/1 HTTP/1.1'), 200),
  answered(
    '9112 3.2.2',
    'its scheme and host are in any case',
    line('GET HTTP://LOCALHOST:80/api/tasks/1 HTTP/1.1'),
    200,
  ),
  answered(
    '9112 3.2.2',
    'its host counts, not Host',
    line('GET http://evil.example/api/tasks/1 HTTP/1.1'),
    403,
  ),
  answered(
    '9112 3.2.2',
    'its host counts where Host is foreign',
    lines('GET http://localhost/api/tasks/1 HTTP/1.1', 'Host: evil.example'),
    200,
  ),
  answered('9112 3.2.2', 'an unknown path in it is unknown', line('GET http://localhost/nope HTTP/1.1'), 404),
  answered('9112 3.2.2', 'no path in it is the root', line('GET http://localhost HTTP/1.1'), 302),
  refused('9112 3.2.2', 'Host is needed beside it', lines('GET http://localhost/api/tasks/1 HTTP/1.1'), 400),
  refused(
    '9112 3.2.2',
    'two Hosts beside it are refused',
    line('GET http://localhost/ HTTP/1.1', 'Host: localhost'),
    400,
  ),
  ...[
    'http:///api/tasks',
    'http://u:p@localhost/api/tasks',
    'ftp://localhost/api/tasks',
    'http://localhost?/api/tasks',
    'http://loc alhost/',
  ].map((target) =>
    refused('9112 3.2.2', `the target ${target} is refused`, line(`GET ${target} HTTP/1.1`), 400),
  ),
  ...['localhost:80', 'api/tasks', 'http:', '?x', '#', '\\api\\tasks', '..'].map((target) =>
    refused('9112 3.2', `the target ${target} is refused`, line(`GET ${target} HTTP/1.1`), 400),
  ),
  ...['GET', 'POST', 'DELETE'].map((method) =>
    refused('9112 3.2.4', `the target * is not for ${method}`, line(`${method} * HTTP/1.1`), 400),
  ),
  answered('9112 3.2.4', 'the target * is for OPTIONS', line('OPTIONS * HTTP/1.1'), 404),
  ...['\t', '\x0b', '\x0c', '\r'].map((blank) =>
    refused(
      '9112 3',
      `${JSON.stringify(blank)} is no blank`,
      line(`GET${blank}/api/tasks/1${blank}HTTP/1.1`),
      400,
    ),
  ),
  answered('9112 2.2', 'empty lines before a request are passed over', `\r\n\r\n${get('/api/tasks/1')}`, 200),
  refused(
    '9112 2.2',
    'a line may not end in LF alone',
    'GET /api/tasks/1 HTTP/1.1\nHost: localhost\n\n',
    400,
  ),
  refused(
    '9112 2.2',
    'a blank before the first header is refused',
    lines('GET /api/tasks/1 HTTP/1.1', ' Host: localhost'),
    400,
  ),
  refused(
    '9112 3',
    'a target of 20,000 characters is refused',
    get(`/api/tasks/${'1'.repeat(20_000)}`),
    414,
    431,
  ),
  refused('9112 3', 'bytes that are no request are refused', 'hello\r\n\r\n', 400),
  refused(
    '9112 3',
    'a TLS handshake is refused',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n',
    400,
  ),
];

runCases('versions', versions);
runCases('methods', methods);
runCases('targets', targets);
