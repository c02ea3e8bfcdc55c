import fc from 'fast-check';
import { createBrokenBody, toJsonText } from './bodies.ts';
import { bearer, type Header, hostileHeaders, oddAuthorization, plainHeaders } from './headers.ts';
import type { Operation } from './operations.ts';
import type { FuzzRequest } from './request.ts';
import { createHostileTarget, createNearTarget, createValidTarget } from './targets.ts';
import { createNear, createValid, type Hints } from './values.ts';

const oddMethods = [
  ...['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'CONNECT', 'PROPFIND', 'SEARCH', 'M-SEARCH'],
  ...['get', 'Post', 'FOO', 'G\xc9T', '', ' ', 'GET\t', 'X'.repeat(300)],
];

const oddVersions = ['HTTP/1.0', 'HTTP/2.0', 'HTTP/1.2', 'HTTP/0.9', 'http/1.1', 'HTTP/1.1.1', 'ICE/1.0', 'HTTP/', ''];

/** Creates requests to the operations: valid, nearly valid or hostile, in equal shares. */
export const createRequests = (operations: readonly Operation[], hints: Hints): fc.Arbitrary<FuzzRequest> => {
  const oddTargets = createHostileTarget(operations);
  return fc.oneof(
    ...operations.map((operation) => {
      const valid = createValidRequest(operation, hints);
      return fc.oneof(
        valid,
        createNearRequest(operation, valid, hints),
        createHostileRequest(operation, oddTargets, hints),
      );
    }),
  );
};

const createValidRequest = (operation: Operation, hints: Hints): fc.Arbitrary<FuzzRequest> =>
  fc
    .record({
      target: createValidTarget(operation, hints),
      body: operation.body ? toJsonText(createValid(operation.body, hints)) : fc.constant(undefined),
      framing: fc.constantFrom('length' as const, 'chunked' as const),
    })
    .map(({ target, body, framing }) => ({
      kind: 'valid',
      method: operation.method,
      target,
      headers: [...plainHeaders, ...(operation.needsToken ? [bearer('admin')] : [])],
      ...(body === undefined ? { framing: 'length' } : { body, framing }),
    }));

/** Creates a valid request with one part replaced. */
const createNearRequest = (
  operation: Operation,
  valid: fc.Arbitrary<FuzzRequest>,
  hints: Hints,
): fc.Arbitrary<FuzzRequest> => {
  const { body, needsToken, parameters } = operation;
  const parts: fc.Arbitrary<Partial<FuzzRequest>>[] = [
    fc.constantFrom('HEAD', 'GET', 'POST', 'PUT', 'DELETE', 'PATCH').map((method) => ({ method })),
    oddAuthorization.map((header) => ({ headers: [...plainHeaders, header] })),
  ];
  if (parameters.length > 0) parts.push(createNearTarget(operation).map((target) => ({ target })));
  if (needsToken) parts.push(fc.constant({ headers: plainHeaders }));
  if (body) {
    const near = toJsonText(createNear(body, hints)).map((text) => ({ body: text }));
    parts.push(near, near, near);
  }
  return fc.tuple(valid, fc.oneof(...parts)).map(([request, part]) => ({ ...request, ...part, kind: 'near' }));
};

/** Creates a request in which any part can be arbitrary. */
const createHostileRequest = (
  operation: Operation,
  oddTargets: fc.Arbitrary<string>,
  hints: Hints,
): fc.Arbitrary<FuzzRequest> => {
  const value = createValid(operation.body ?? { type: 'object' }, hints);
  return fc
    .record({
      method: fc.oneof(
        { weight: 3, arbitrary: fc.constant(operation.method) },
        { weight: 1, arbitrary: fc.constantFrom(...oddMethods) },
      ),
      target: fc.oneof(
        { weight: 3, arbitrary: createValidTarget(operation, hints) },
        { weight: 1, arbitrary: createNearTarget(operation) },
        { weight: 2, arbitrary: oddTargets },
      ),
      version: fc.oneof(
        { weight: 20, arbitrary: fc.constant(undefined) },
        { weight: 1, arbitrary: fc.constantFrom(...oddVersions) },
      ),
      headers: fc.oneof(fc.constant<Header[]>([...plainHeaders, bearer('admin')]), hostileHeaders),
      body: fc.option(fc.oneof(createBrokenBody(value), toJsonText(value)), { nil: undefined, freq: 5 }),
      framing: fc.oneof(
        { weight: 12, arbitrary: fc.constantFrom('length' as const, 'chunked' as const) },
        { weight: 1, arbitrary: fc.constantFrom('cut' as const, 'cut-chunk' as const) },
      ),
    })
    .map(({ body, version, ...request }) => {
      // Without a body, the server would wait for the body that these headers announce.
      const sent = body ?? (request.headers.some(([name]) => name === 'Transfer-Encoding') ? '{}' : undefined);
      return {
        kind: 'hostile',
        ...request,
        ...(sent !== undefined && { body: sent }),
        ...(version !== undefined && { version }),
      };
    });
};
