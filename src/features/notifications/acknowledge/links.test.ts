import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createAcknowledgeLinks, type LinkedDestination } from './links.ts';

const id = '019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c55';
const [key, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const hour = 3_600_000;
const now = Date.parse('2026-01-31T08:30:00Z');

const phone: LinkedDestination = { name: 'anna-phone', type: 'ntfy', url: 'https://ntfy.sh/anna', createdAt: now };

const createLinks = (keys: readonly [Buffer, ...Buffer[]], at = now, known: LinkedDestination | undefined = phone) =>
  createAcknowledgeLinks(
    keys,
    () => new Date(at),
    () => known,
  );

test('a token names its destination and its incidents for 24 hours', () => {
  const ids = [id, id.replace(/5$/, '6')];
  const token = createLinks([key]).createToken(phone, ids) ?? '';
  assert.match(token, /^ack_[\w-]+$/);
  assert.deepEqual(createLinks([key], now + 23 * hour).readToken(token), { destination: 'anna-phone', ids });
  assert.equal(createLinks([key], now + 24 * hour).readToken(token), 'expired');
});

test('a token of the previous key is valid, and a token of an unknown key is forged', () => {
  const token = createLinks([key]).createToken(phone, [id]) ?? '';
  assert.equal(typeof createLinks([other, key]).readToken(token), 'object');
  assert.equal(createLinks([other]).readToken(token), 'forged');
});

test('a token is valid only for its destination with the same type, address and creation', () => {
  const token = createLinks([key]).createToken(phone, [id]) ?? '';
  const read = (changes: Partial<LinkedDestination>) =>
    createLinks([key], now, { ...phone, ...changes }).readToken(token);
  assert.equal(typeof read({}), 'object');
  for (const changes of [
    { createdAt: now + 1 },
    { createdAt: undefined },
    { type: 'gotify' },
    { url: 'https://a.example' },
  ])
    assert.equal(read(changes), 'removed');
});

test('a token for no incident, or for too many incidents, is not created', () => {
  const count = (length: number) => createLinks([key]).createToken(phone, Array(length).fill(id));
  assert.deepEqual([count(0), count(17)], [undefined, undefined]);
  assert.ok((count(16) ?? '').length < 500);
});

test('only tokens that were created are accepted', () => {
  const links = createLinks([key]);
  const token = links.createToken(phone, [id]) ?? '';
  assert.equal(typeof links.readToken(token), 'object');
  const edit = fc.record({ at: fc.nat({ max: token.length - 1 }), to: fc.string({ maxLength: 3 }) });
  fc.assert(
    fc.property(edit, ({ at, to }) => {
      const edited = token.slice(0, at) + to + token.slice(at + 1);
      if (edited !== token) assert.equal(typeof links.readToken(edited), 'string', edited);
    }),
  );
  fc.assert(fc.property(fc.string(), (text) => typeof links.readToken(text) === 'string'));
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      assert.equal(typeof links.readToken(`ack_${Buffer.from(bytes).toString('base64url')}`), 'string');
    }),
  );
  for (const text of [`${token}=`, `${token} `, token.replace('ack_', 'ack-'), '', 'ack_'])
    assert.equal(links.readToken(text), 'incomplete', text);
});
