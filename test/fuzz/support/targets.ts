import fc from 'fast-check';
import type { JsonSchema, Operation, Parameter } from './operations.ts';
import { createValid, type Hints, text } from './values.ts';

const oddIds = [
  ...[
    '0',
    '-1',
    '01',
    '1.0',
    '1e1',
    '+1',
    '%31',
    '1%20',
    ' 1'.trim(),
    '%EF%BC%91',
    '9007199254740993',
    '1'.repeat(300),
  ],
  ...[
    'abc',
    '%00',
    '1%2F2',
    '..',
    '%2e%2e',
    '%',
    '%zz',
    '%c0%af',
    '*',
    ':id',
    '{id}',
    '1;x=2',
    '__proto__',
    '~',
    '\xe9',
  ],
];

const oddNumbers = [
  '-1',
  '1.5',
  '1e3',
  '+1',
  '0x10',
  '%D9%A1',
  '%201',
  '1%20',
  '9'.repeat(400),
  'NaN',
  'null',
  '%',
];

const oddQueries = [
  ...[
    '?',
    '&',
    '=',
    '==',
    '&&&=&',
    '%',
    '%zz=1',
    'a[b]=c',
    'limit[]=1',
    'limit=1&limit=2',
    'limit=1,2',
    '__proto__=1',
  ],
  ...[
    '__proto__[x]=1',
    'constructor=1',
    'hasOwnProperty=1',
    'limit=%00',
    'status=%ff%fe',
    'top=1;size=2',
    '\xff=\xfe',
  ],
  ...[
    'x=1&'.repeat(1500),
    'level=%ED%A0%80',
    'limit',
    'count=10001',
    'page=0',
    'Limit=x',
    'sort=%',
    '#limit=x',
  ],
];

const oddPaths = [
  ...[
    '/',
    '//',
    '/*',
    '*',
    '',
    '.',
    '?',
    '/.',
    '/..',
    '/%',
    '/%00',
    '/%2e%2e/',
    '/\xff',
    '/api',
    '/api/',
    '/API/tasks',
  ],
  ...[
    '/api/tasks/',
    '//api/tasks',
    '/api//tasks',
    '/api/tasks/1/2',
    '/api/task%73',
    '/api%2Ftasks',
    '/./api/tasks',
  ],
  ...[
    'http://localhost/api/tasks',
    'http://evil.example/health',
    'evil.example:80',
    '/health;x',
    '/health%3Fx',
    '/health#',
  ],
  ...[
    '/docs',
    '/docs/',
    '/docs/index.html',
    '/docs/none',
    '/docs/.env',
    '/docs/../package.json',
    '/docs//etc/passwd',
  ],
  ...[
    '/docs/%2e%2e/%2e%2e/etc/passwd',
    '/docs/..%2f..%2fpackage.json',
    '/docs/%00',
    '/docs/%',
    '/docs/page.js',
  ],
  ...[
    '/openapi.json',
    '/openapi.json/',
    '/simple',
    '/simple/',
    '/protected',
    '/favicon.ico',
    '/api/tasks/\\..\\x',
  ],
  ...[
    `/${'a'.repeat(3000)}`,
    `/api/tasks/${'%61'.repeat(2000)}`,
    `/${'a/'.repeat(3000)}`,
    '/api/tasks/1 2',
    '/a\r\nX: y',
  ],
];

/** Targets by the document: ids as they are given out, query values that fit. */
export const createValidTarget = (operation: Operation, hints: Hints): fc.Arbitrary<string> =>
  createTarget(operation, fc.integer({ min: 1, max: 40 }).map(String), ({ schema, name }) =>
    createValid(schema, hints, name).map(encode),
  );

/** Targets with the operation's path, and ids and query values that may be no such thing. */
export const createNearTarget = (operation: Operation): fc.Arbitrary<string> =>
  createTarget(operation, fc.constantFrom(...oddIds), ({ schema }) => createOddValue(schema));

/** Any target, also no path at all. */
export const createHostileTarget = (operations: readonly Operation[]): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constantFrom(...oddPaths),
    fc
      .tuple(fc.constantFrom(...operations), fc.constantFrom(...oddQueries))
      .map(([{ path }, query]) => `${path}?${query}`),
    fc
      .tuple(fc.constantFrom(...operations), fc.constantFrom(...oddPaths))
      .map(([{ path }, tail]) => path + tail),
    fc
      .string({ unit: fc.integer({ min: 0x21, max: 0xff }).map((code) => String.fromCharCode(code)) })
      .map((tail) => `/${tail}`),
  );

const createTarget = (
  { path, parameters }: Operation,
  id: fc.Arbitrary<string>,
  createValue: (parameter: Parameter) => fc.Arbitrary<string>,
): fc.Arbitrary<string> => {
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const values = Object.fromEntries(query.map((parameter) => [parameter.name, createValue(parameter)]));
  return fc
    .tuple(id, fc.record(values, { requiredKeys: [], noNullPrototype: true }))
    .map(([place, given]) => {
      const pairs = Object.entries(given).map(([name, value]) => `${name}=${value}`);
      return path.replace(/\{\w+\}/, place) + (pairs.length > 0 ? `?${pairs.join('&')}` : '');
    });
};

const createOddValue = (schema: JsonSchema): fc.Arbitrary<string> =>
  schema.type === 'integer' ? fc.constantFrom(...oddNumbers, '', '3') : text.map(encode);

/** Percent-encoded UTF-8; a half of a surrogate pair becomes U+FFFD. */
const encode = (value: unknown): string => encodeURIComponent(Buffer.from(String(value)).toString());
