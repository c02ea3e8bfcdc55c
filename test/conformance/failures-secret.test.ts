import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { needs } from '../../src/auth/access.ts';
import { defineFeature } from '../../src/kit/feature.ts';
import { defineRoute } from '../../src/kit/route.ts';
import { startApp } from '../support/app.ts';
import { createClaims, createHmacSigner, signToken } from '../support/tokens.ts';

const secret = 'planted-signing-key-0123456789abcdef';
const token = signToken(createClaims(), { sign: createHmacSigner(secret) });

const broken = defineFeature({
  name: 'broken',
  profiles: [{ name: 'broken', summary: 'fails' }],
  settings: {},
  create: () => ({
    profiles: {
      broken: [
        defineRoute({
          method: 'POST',
          path: '/api/broken',
          ...needs('settings:write'),
          summary: 'Fail',
          schema: {},
          handler: async () => {
            throw new Error('the reason');
          },
        }),
      ],
    },
  }),
});

test('a 500 hides the reason, and its log line contains the reason but nothing from the request', async (t) => {
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) });
  const settings = { jwtSecret: secret, profiles: ['broken'] };
  const { request } = await startApp(t, { settings, log, features: [broken] });
  const { status, json, text } = await request('POST', '/api/broken?password=planted-query', {
    token,
    headers: { cookie: 'planted-cookie' },
    body: '{"password":"planted-body"}',
  });
  const { error, requestId } = json;
  assert.deepEqual([status, error], [500, 'Internal server error']);
  const failure = lines.map((line) => JSON.parse(line)).find(({ reqId, err }) => reqId === requestId && err);
  assert.equal(failure.err.message, 'the reason');
  for (const planted of ['planted', token, secret]) {
    assert.equal(`${lines.join('')}${text}`.includes(planted), false, planted);
  }
});
