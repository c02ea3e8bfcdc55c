import { type Case, runCases, smuggled } from './support/cases.ts';
import { chunked, get, hidden, lines, post, task } from './support/requests.ts';

const body = task('x');
const length = `Content-Length: ${body.length}`;
const coding = 'Transfer-Encoding: chunked';
const refused = { answers: [[400]], closes: true };

const cases: Case[] = [
  {
    rule: '9112 6.1',
    text: 'Content-Length before Transfer-Encoding is rejected',
    send: post(length, coding) + chunked(body),
    ...refused,
  },
  {
    rule: '9112 6.1',
    text: 'Transfer-Encoding before Content-Length is rejected',
    send: post(coding, length) + chunked(body),
    ...refused,
  },
  {
    rule: '9112 11.2',
    text: 'bytes after the last chunk but within Content-Length are not a request (CL.TE)',
    send: `${post(`Content-Length: ${hidden.length + 5}`, coding)}0\r\n\r\n${hidden}`,
    ...refused,
  },
  {
    rule: '9112 11.2',
    text: 'bytes after a short Content-Length but within a chunk are not a request (TE.CL)',
    send: `${post('Content-Length: 4', coding)}${chunked(hidden)}`,
    ...refused,
  },
  {
    rule: '9112 11.2',
    text: 'a transfer coding after a tab is recognized',
    send: post('Transfer-Encoding:\tchunked', length) + chunked(body),
    ...refused,
  },
  {
    rule: '9112 6.3',
    text: 'two different Content-Length headers are rejected',
    send: `${post(length, 'Content-Length: 0')}${body}`,
    ...refused,
  },
  {
    rule: '9112 6.3',
    text: 'two equal Content-Length headers are rejected',
    send: `${post(length, length)}${body}`,
    ...refused,
  },
  {
    rule: '9112 6.3',
    text: 'a list in Content-Length is rejected',
    send: `${post(`${length}, ${body.length}`)}${body}`,
    ...refused,
  },
  ...['+5', '-5', '0x5', '5.0', '5 5', '', '5;', '１２', 'five', '99999999999999999999999999'].map((value) => ({
    rule: '9110 8.6',
    text: `the Content-Length ${JSON.stringify(value)} is rejected`,
    send: `${post(`Content-Length: ${Buffer.from(value).toString('latin1')}`)}${body}`,
    ...refused,
  })),
  {
    rule: '9110 8.6',
    text: 'Content-Length may have leading zeros',
    send: `${post(`Content-Length: 000${body.length}`)}${body}`,
    answers: [[201]],
    closes: false,
  },
  {
    rule: '9112 6.1',
    text: 'a transfer coding in HTTP/1.0 is rejected',
    send: lines('POST /api/tasks HTTP/1.0', 'Host: localhost', 'Connection: keep-alive', coding) + chunked(body),
    ...refused,
  },
  {
    rule: '9112 6.1',
    text: 'an empty transfer coding is rejected',
    send: post('Transfer-Encoding:') + hidden,
    ...refused,
  },
  ...[
    'identity',
    'gzip, chunked',
    'xchunked',
    'chunked, gzip',
    '"chunked"',
    'chunked;q=1',
    '\x0bchunked',
    'c\x00hunked',
  ].map((value) => ({
    rule: '9112 6.1',
    text: `the transfer coding ${JSON.stringify(value)} is rejected`,
    send: post(`Transfer-Encoding: ${value}`) + chunked(body),
    answers: [[400, 501]],
    closes: true,
  })),
  {
    rule: '9112 6.1',
    text: 'chunked given twice is rejected, in one header or two',
    send: post('Transfer-Encoding: chunked, chunked') + chunked(body),
    answers: [[400, 501]],
    closes: true,
  },
  {
    rule: '9112 6.1',
    text: 'two transfer codings are rejected',
    send: post(coding, coding) + chunked(body),
    answers: [[400, 501]],
    closes: true,
  },
  {
    rule: '9112 6.1',
    text: 'a transfer coding may be in any case',
    send: post('transfer-ENCODING: Chunked') + chunked(body),
    answers: [[201]],
    closes: false,
  },
  {
    rule: '9112 6.3',
    text: 'a request without Content-Length and Transfer-Encoding has no body, and the next request follows',
    send: post() + get('/api/tasks/1'),
    answers: [[400], [200]],
    closes: false,
  },
  {
    rule: '9110 9.3.1',
    text: 'the body of a GET is never read as a request',
    send: `${get('/api/tasks/1', `Content-Length: ${hidden.length}`)}${hidden}`,
    answers: [[200]],
    closes: false,
  },
  {
    rule: '9110 9.3.5',
    text: 'the body of a DELETE is ignored',
    send: `${lines('DELETE /api/tasks/77 HTTP/1.1', 'Host: localhost', `Content-Length: ${hidden.length}`)}${hidden}`,
    answers: [[404]],
    closes: false,
  },
  {
    rule: '9110 15.5.14',
    text: 'a Content-Length beyond the limit is rejected before the body arrives',
    send: post('Content-Length: 1048577'),
    answers: [[413]],
    closes: true,
  },
  {
    rule: '9112 6.2',
    text: 'bytes after a body are the next request, not part of the body',
    send: `${post(length)}${body}${smuggled}`,
    answers: [[201], [400]],
    closes: true,
  },
];

runCases('the length of a body follows RFC 9112, 6', cases);
