import { type Case, runCases } from './support/cases.ts';
import { get, hidden, lines } from './support/requests.ts';

/** Returns a request with the given request line, and a Host header. */
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
    refused('9110 15.6.6', `HTTP/${version} is not supported`, line(`GET /api/tasks/1 HTTP/${version}`), 505),
  ),
  refused('9113 3.4', 'an HTTP/2 preface is rejected', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505),
  refused('9112 2.3', 'a request without a version is rejected', lines('GET /api/tasks/1'), 400),
  ...['1.10', '1', '1.', '.1', '1.1.1', '11', '1,1', 'x.y', '1.1 '].map((version) =>
    refused(
      '9112 2.3',
      `a version ${JSON.stringify(version)} is malformed`,
      line(`GET /api/tasks/1 HTTP/${version}`),
      400,
    ),
  ),
  refused('9112 2.3', 'HTTP in lower case is malformed', line('GET /api/tasks/1 http/1.1'), 400),
  refused('9112 2.3', 'another protocol is rejected', line('GET /api/tasks/1 HTCPCP/1.0'), 400),
  refused('9112 2.3', 'HTTP/1.0 is answered, and the connection is closed', line('GET /api/tasks/1 HTTP/1.0'), 200),
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
  refused('9110 9.3.6', 'CONNECT is not allowed', lines('CONNECT localhost:80 HTTP/1.1', 'Host: localhost:80'), 405),
  refused('9110 9.3.6', 'nothing is read after CONNECT', line('CONNECT localhost:80 HTTP/1.1') + hidden, 405),
  answered(
    '9110 9.3.8',
    'a method cannot be replaced by a header',
    get('/api/tasks/1', 'X-HTTP-Method-Override: DELETE'),
    200,
  ),
];

const targets: Case[] = [
  answered('9112 3.2.2', 'a target may be a whole URI', line('GET http://localhost/api/tasks/1 HTTP/1.1'), 200),
  answered(
    '9112 3.2.2',
    'the scheme and host of a URI may be in any case',
    line('GET HTTP://LOCALHOST:80/api/tasks/1 HTTP/1.1'),
    200,
  ),
  answered(
    '9112 3.2.2',
    'the host of a URI counts, not Host',
    line('GET http://evil.example/api/tasks/1 HTTP/1.1'),
    403,
  ),
  answered(
    '9112 3.2.2',
    'the host of a URI counts even if Host is foreign',
    lines('GET http://localhost/api/tasks/1 HTTP/1.1', 'Host: evil.example'),
    200,
  ),
  answered('9112 3.2.2', 'a URI with an unknown path is not found', line('GET http://localhost/nope HTTP/1.1'), 404),
  answered('9112 3.2.2', 'a URI without a path is the root', line('GET http://localhost HTTP/1.1'), 302),
  refused('9112 3.2.2', 'a URI without Host is rejected', lines('GET http://localhost/api/tasks/1 HTTP/1.1'), 400),
  refused(
    '9112 3.2.2',
    'a URI with two Host headers is rejected',
    line('GET http://localhost/ HTTP/1.1', 'Host: localhost'),
    400,
  ),
  ...[
    'http:///api/tasks',
    'http://u:p@localhost/api/tasks',
    'ftp://localhost/api/tasks',
    'http://localhost?/api/tasks',
    'http://loc alhost/',
  ].map((target) => refused('9112 3.2.2', `the target ${target} is rejected`, line(`GET ${target} HTTP/1.1`), 400)),
  ...['localhost:80', 'api/tasks', 'http:', '?x', '#', '\\api\\tasks', '..'].map((target) =>
    refused('9112 3.2', `the target ${target} is rejected`, line(`GET ${target} HTTP/1.1`), 400),
  ),
  ...['GET', 'POST', 'DELETE'].map((method) =>
    refused('9112 3.2.4', `the target * is rejected for ${method}`, line(`${method} * HTTP/1.1`), 400),
  ),
  answered('9112 3.2.4', 'the target * is answered for OPTIONS', line('OPTIONS * HTTP/1.1'), 204),
  ...['/api/tasks/1#x', '/health#', 'http://localhost/api/tasks/1#x'].map((target) =>
    refused('9112 3.2', `the target ${target} has a fragment and is rejected`, line(`GET ${target} HTTP/1.1`), 400),
  ),
  ...['\t', '\x0b', '\x0c', '\r'].map((blank) =>
    refused(
      '9112 3',
      `${JSON.stringify(blank)} does not separate the parts of a request line`,
      line(`GET${blank}/api/tasks/1${blank}HTTP/1.1`),
      400,
    ),
  ),
  answered('9112 2.2', 'empty lines before a request are ignored', `\r\n\r\n${get('/api/tasks/1')}`, 200),
  refused('9112 2.2', 'a line may not end in LF alone', 'GET /api/tasks/1 HTTP/1.1\nHost: localhost\n\n', 400),
  refused(
    '9112 2.2',
    'a space before the first header is rejected',
    lines('GET /api/tasks/1 HTTP/1.1', ' Host: localhost'),
    400,
  ),
  refused('9112 3', 'a target of 20,000 characters is rejected', get(`/api/tasks/${'1'.repeat(20_000)}`), 414, 431),
  refused('9112 3', 'bytes that are not a request are rejected', 'hello\r\n\r\n', 400),
  refused('9112 3', 'a TLS handshake is rejected', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', 400),
];

runCases('the version of a request line follows RFC 9112, 2.3', versions);
runCases('methods follow RFC 9110, 9', methods);
runCases('request targets follow RFC 9112, 3.2', targets);
