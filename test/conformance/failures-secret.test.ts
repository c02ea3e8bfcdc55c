import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { createApp } from '../../src/app/create-app.ts';
import { loadSettings } from '../../src/config/load.ts';
import { createSettingsSchema } from '../../src/config/schema.ts';
import { defineFeature } from '../../src/profiles/feature.ts';
import { defineRoute } from '../../src/profiles/route.ts';
import { createFolder } from '../support/app.ts';
import { createClaims, createHmacSigner, signToken } from './support/tokens.ts';

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
          access: 'admin',
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

test('D13g a 500 shows no reason, and its log line has the reason but nothing of the request', async (t) => {
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) });
  const dataDir = createFolder(t);
  const variables = {
    SIGNALBOX_JWT_SECRET: secret,
    SIGNALBOX_DATA_DIR: dataDir,
    SIGNALBOX_PROFILES: 'broken',
  };
  const settings = loadSettings(createSettingsSchema([]), {}, variables);
  const { server } = await createApp(settings, { log, nodeVersion: '20', features: [broken] });
  t.after(() => server.close());
  const answer = await server.inject({
    method: 'POST',
    url: '/api/broken?password=planted-query',
    headers: { host: 'localhost', authorization: `Bearer ${token}`, cookie: 'planted-cookie' },
    payload: '{"password":"planted-body"}',
  });
  const { error, requestId } = answer.json();
  assert.deepEqual([answer.statusCode, error], [500, 'Internal server error']);
  const failure = lines.map((line) => JSON.parse(line)).find(({ reqId, err }) => reqId === requestId && err);
  assert.equal(failure.err.message, 'the reason');
  for (const planted of ['planted', token, secret]) {
    assert.equal(`${lines.join('')}${answer.body}`.includes(planted), false, planted);
  }
});
