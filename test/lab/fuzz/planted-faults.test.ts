import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { openFor } from '../../../src/auth/access.ts';
import { HttpError } from '../../../src/http/errors.ts';
import { defineFeature } from '../../../src/kit/feature.ts';
import { defineRoute, type Route } from '../../../src/kit/route.ts';
import { bearer, plainHeaders } from './support/headers.ts';
import { Finding } from './support/judge.ts';
import type { FuzzRequest } from './support/request.ts';
import { startService } from './support/service.ts';

const body = Type.Object({ name: Type.String({ minLength: 2 }) });
const Answer = Type.Object({ n: Type.Integer() });

/** Sends a body as written. Bypasses the schema, because it would normalize the body. */
const sendText = (reply: FastifyReply, text: string, type = 'application/json; charset=utf-8') =>
  reply.type(type).send(text);

const createRoute = (path: string, handler: (reply: FastifyReply) => unknown, changes = {}): Route =>
  defineRoute({
    method: 'POST',
    path,
    ...openFor('items:write'),
    summary: 'Show a fault',
    schema: { body, response: { 200: Answer } },
    handler: async (_request, reply) => {
      await handler(reply);
      return reply;
    },
    ...changes,
  });

const planted = defineFeature({
  name: 'planted',
  profiles: [{ name: 'planted', summary: 'routes with faults' }],
  settings: {},
  create: () => ({
    profiles: {
      planted: [
        createRoute('/sound', (reply) => sendText(reply, '{"n":1}')),
        createRoute('/throws', () => assert.fail()),
        createRoute('/status', (reply) => sendText(reply.code(202), '{"n":1}')),
        createRoute('/value', (reply) => sendText(reply, '{"n":1.5}')),
        createRoute('/member', (reply) => sendText(reply, '{"n":1,"secret":"x"}')),
        createRoute('/broken', (reply) => sendText(reply, '{"n":1')),
        createRoute('/label', (reply) => sendText(reply, '{"n":1}', 'text/plain')),
        createRoute('/header', () => Promise.reject(new HttpError('unavailable', 'later'))),
        createRoute('/takes-all', (reply) => sendText(reply, '{"n":1}'), {
          validatorCompiler: () => () => true,
        }),
        createRoute('/silent', (reply) => reply.raw.destroy()),
      ],
    },
  }),
});

const createRequest = (target: string, name = 'ab'): FuzzRequest => ({
  kind: 'near',
  method: 'POST',
  target,
  headers: [...plainHeaders, bearer('reader')],
  body: JSON.stringify({ name }),
  framing: 'chunked',
});

test('the fuzzer detects every kind of undocumented response', async (t) => {
  const variant = { name: 'faults', settings: { profiles: ['planted'] } };
  const { ask } = await startService(t, variant, [planted]);
  const expectFinding = (target: string, why: RegExp, name?: string) =>
    assert.rejects(ask(createRequest(target, name)), (error) => {
      assert.ok(error instanceof Finding, `${error}`);
      assert.match(error.message, why);
      return true;
    });
  assert.equal((await ask(createRequest('/sound')))?.status, 200);
  assert.equal((await ask(createRequest('/none')))?.status, 404);
  await expectFinding('/throws', /^status 500 is not one of/);
  await expectFinding('/status', /^status 202 is not one of/);
  await expectFinding('/value', /^the body of 200 is not as documented: \{"n":1\.5\}/);
  await expectFinding('/member', /^the body of 200 is not as documented: .*secret/);
  await expectFinding('/broken', /^200 with a body that is not JSON/);
  await expectFinding('/label', /^200 is labelled text\/plain/);
  await expectFinding('/header', /^503 without retry-after/);
  await expectFinding('/takes-all', /^200 for a body that does not fit/, 'a');
  await expectFinding('/silent', /^the connection is closed without an answer/);
  assert.equal((await ask(createRequest('/sound')))?.status, 200);
});
