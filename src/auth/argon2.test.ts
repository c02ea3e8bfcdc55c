import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hash as hashNative, verify as verifyNative } from '@node-rs/argon2';
import fc from 'fast-check';
import { argon2, createHashing, loadHashing } from './argon2.ts';

const algorithms = ['argon2d', 'argon2i', 'argon2id'];

const skip = argon2 ? false : 'this version of Node has no argon2 of its own';
const hashing = () => createHashing(argon2 ?? assert.fail());

const costs = fc.record({
  memoryCost: fc.integer({ min: 64, max: 256 }),
  timeCost: fc.integer({ min: 1, max: 3 }),
  parallelism: fc.integer({ min: 1, max: 4 }),
  outputLen: fc.integer({ min: 4, max: 70 }),
  algorithm: fc.integer({ min: 0, max: 2 }),
  salt: fc.uint8Array({ minLength: 8, maxLength: 40 }),
});

const passwords = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 });

test('Node verifies every hash of @node-rs/argon2: all kinds, costs, salts and lengths', { skip }, async () => {
  await fc.assert(
    fc.asyncProperty(passwords, passwords, costs, async (password, other, cost) => {
      const hashed = await hashNative(password, cost);
      assert.equal(hashed.split('$')[1], algorithms[cost.algorithm]);
      assert.equal(await hashing().verify(hashed, password), true);
      assert.equal(await hashing().verify(hashed, other), other === password);
    }),
    { numRuns: 100 },
  );
});

test('@node-rs/argon2 verifies hashes that Node computes', { skip }, async () => {
  for (const password of ['x', 'correct horse', '\u00e9\u{1f40e}', 'y'.repeat(128)]) {
    const hashed = await hashing().hash(password);
    assert.match(hashed, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    assert.equal(await verifyNative(hashed, password), true);
    assert.equal(await verifyNative(hashed, `${password}!`), false);
  }
});

test('a hash that an earlier release printed is verified on every version of Node', async () => {
  const hashed = '$argon2id$v=19$m=19456,t=2,p=1$QEebkKxen3H0YppBJajunA$01lqv1kqy0xKXlxUoG092MaeJTLClpBYylXjkISDs3Y';
  const { verify } = await loadHashing();
  assert.equal(await verify(hashed, 'correct horse'), true);
  assert.equal(await verify(hashed, 'Correct horse'), false);
});

test('text that is not an argon2 hash rejects', { skip }, async () => {
  for (const text of [
    '',
    'x',
    '$argon2id$v=16$m=64,t=1,p=1$c2FsdHNhbHQ$aGFzaGhhc2g',
    '$argon2x$v=19$m=64,t=1,p=1$a$b',
  ]) {
    await assert.rejects(hashing().verify(text, 'x'), /^Error: not an argon2 hash$/);
  }
});
