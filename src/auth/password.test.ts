import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashPassword, isPassword, isPossiblePassword } from './password.ts';

test('a password is not empty and has at most 128 bytes', () => {
  for (const password of ['x', ' ', 'x'.repeat(128), '\u00e9'.repeat(64)]) {
    assert.equal(isPossiblePassword(password), true, password);
  }
  for (const password of ['', 'x'.repeat(129), '\u00e9'.repeat(65)]) {
    assert.equal(isPossiblePassword(password), false, password);
  }
});

test('a password belongs to its own hash, which is another one each time', async () => {
  const hash = await hashPassword('correct');
  assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  assert.notEqual(await hashPassword('correct'), hash);
  assert.equal(await isPassword('correct', hash), true);
  assert.equal(await isPassword('Correct', hash), false);
});
