import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { createClaims, signToken } from '../support/tokens.ts';
import { assertRefused, failed } from './support/refused-tokens.ts';

const now = () => Math.floor(Date.now() / 1000);

const signEach = (changes: Record<string, unknown>[]): string[] =>
  changes.map((change) => signToken(createClaims(change)));

test('a token that cannot be decoded gets 401 `Token validation failed: …`', async (t) => {
  const [header = '', claims = '', signature = ''] = signToken(createClaims()).split('.');
  const noUtf8 = Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url');
  const texts = ['', 'x', '{', '[]', 'null', '1', '"x"'].map((text) => Buffer.from(text).toString('base64url'));
  const tokens = [...texts, noUtf8, '!', 'ä'.normalize('NFD').slice(0, 1).concat('*')].flatMap((part) => [
    `${header}.${part}.${signature}`,
    `${part}.${claims}.${signature}`,
  ]);
  await assertRefused(t, [...tokens, '..', 'a.b.c', `${header}.${claims}.*`], failed);
});

test('a token part with padding or non-canonical base64url is rejected', async (t) => {
  const token = signToken(createClaims());
  const [header = '', claims = '', signature = ''] = token.split('.');
  const lastCharacters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const last = lastCharacters.indexOf(signature.slice(-1));
  // 32 bytes leave two bits of the last character unused. Setting one of these bits changes the spelling but not the
  // bytes.
  const respelled = `${signature.slice(0, -1)}${lastCharacters[last ^ 1]}`;
  await assertRefused(
    t,
    [
      `${token}=`,
      `${header}=.${claims}.${signature}`,
      `${header}.${claims}.${respelled}`,
      `${header}.${claims} .${signature}`,
    ],
    failed,
  );
});

test('a token identifies its user by sub, even if that user cannot log in', async (t) => {
  const app = await startApp(t, { settings: { profiles: ['protected-tasks'] } });
  for (const sub of ['admin', 'someone else', '漢字', '__proto__', '"quoted"']) {
    const { json } = await app.request('GET', '/api/tasks', { token: signToken(createClaims({ sub })) });
    assert.equal(json['user'], sub);
  }
});

test('the claim sub is required and must be a name', async (t) => {
  await assertRefused(t, signEach([undefined, null, '', 1, true, ['admin'], {}].map((sub) => ({ sub }))), failed);
});

test('the claim role is required and must be Admin or Reader', async (t) => {
  const roles = [undefined, null, '', 'admin', 'READER', 'King', ['Admin'], { Admin: 1 }, 1, '__proto__'];
  await assertRefused(t, signEach(roles.map((role) => ({ role }))), failed);
});

test('the issuer must be the configured one', async (t) => {
  const issuers = [undefined, null, '', 'another', 'Signalbox', 'signalbox ', ['signalbox'], 1];
  await assertRefused(t, signEach(issuers.map((iss) => ({ iss }))), failed);
});

test('the claim iat is required and must be a whole number', async (t) => {
  const times = [undefined, null, '', String(now()), now() - 0.5, [now()], true];
  await assertRefused(t, signEach(times.map((iat) => ({ iat }))), failed);
});

test('a token that claims to be valid for more than 3600 seconds, or from the future, is rejected', async (t) => {
  const changes = [
    { exp: now() + 100_000 },
    { exp: Number.MAX_SAFE_INTEGER },
    { iat: now() - 3601, exp: now() + 60 },
    { iat: now() + 600, exp: now() + 700 },
  ];
  await assertRefused(t, signEach(changes), failed);
});

test('tokens are checked for the configured issuer', async (t) => {
  const app = await startApp(t, { settings: { profiles: ['items'], issuer: 'tower 3' } });
  const read = async (iss: string) =>
    (await app.request('GET', '/api/items', { token: signToken(createClaims({ iss })) })).status;
  assert.deepEqual([await read('tower 3'), await read('signalbox')], [200, 401]);
});
