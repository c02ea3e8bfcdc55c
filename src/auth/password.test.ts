import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hash as hashNative, verify as verifyNative } from '@node-rs/argon2';
import fc from 'fast-check';
import {
  argon2,
  createHashing,
  findHashProblem,
  hashPassword,
  isPassword,
  isPossiblePassword,
  loadHashing,
} from './password.ts';

const withCost = (m: number, t: number, p: number): string =>
  `$argon2id$v=19$m=${m},t=${t},p=${p}$c2FsdHNhbHQ$aGFzaGhhc2g`;

test('a password must have between 1 and 128 bytes', () => {
  for (const password of ['x', ' ', 'x'.repeat(128), '\u00e9'.repeat(64)]) {
    assert.equal(isPossiblePassword(password), true, password);
  }
  for (const password of ['', 'x'.repeat(129), '\u00e9'.repeat(65)]) {
    assert.equal(isPossiblePassword(password), false, password);
  }
});

test('a password matches its own hash, and each hash of it is different', async () => {
  const hash = await hashPassword('correct');
  assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  assert.notEqual(await hashPassword('correct'), hash);
  assert.equal(await isPassword('correct', hash), true);
  assert.equal(await isPassword('Correct', hash), false);
});

test('hashes from hash-password and those within the limits are accepted', async () => {
  assert.equal(findHashProblem(await hashPassword('x')), undefined);
  assert.equal(findHashProblem(withCost(65_536, 3, 4)), undefined);
  assert.equal(findHashProblem(withCost(8, 1, 1)), undefined);
  assert.equal(findHashProblem(withCost(262_144, 4, 16)), undefined);
  const [start] = withCost(64, 1, 1).split('$c2F');
  assert.equal(findHashProblem(`${start}$AAAAAAAAAAA$AAAAAA`), undefined);
});

test('a hash that is too expensive to check is refused', () => {
  assert.match(findHashProblem(withCost(262_145, 1, 1)) ?? '', /^has more than 262144 KiB of memory/);
  assert.match(findHashProblem(withCost(262_144, 5, 1)) ?? '', /^requires too much work/);
  assert.match(findHashProblem(withCost(8, 1e9, 1)) ?? '', /^requires too much work/);
  assert.match(findHashProblem(withCost(1024, 1, 17)) ?? '', /^has more than 16 lanes/);
  assert.match(findHashProblem(withCost(10 ** 30, 10 ** 30, 1)) ?? '', /^has more than 262144 KiB/);
});

test('a hash whose parameters, salt or hash are too small is refused', () => {
  for (const [m = 0, t = 0, p = 0] of [
    [7, 1, 1],
    [15, 1, 2],
    [0, 0, 0],
    [64, 0, 1],
    [64, 1, 0],
  ]) {
    assert.match(findHashProblem(withCost(m, t, p)) ?? '', /^has less/);
  }
  const [start] = withCost(64, 1, 1).split('$c2F');
  assert.match(findHashProblem(`${start}$AAAA$aGFzaGhhc2g`) ?? '', /^has a salt of fewer than 8 bytes/);
  assert.match(findHashProblem(`${start}$c2FsdHNhbHQ$AAAA`) ?? '', /^has a hash of fewer than 4 bytes/);
});

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

test('the check of a text that is not an argon2 hash rejects', { skip }, async () => {
  for (const text of [
    '',
    'x',
    '$argon2id$v=16$m=64,t=1,p=1$c2FsdHNhbHQ$aGFzaGhhc2g',
    '$argon2x$v=19$m=64,t=1,p=1$a$b',
  ]) {
    await assert.rejects(hashing().verify(text, 'x'), /^Error: not an argon2 hash$/);
  }
});
