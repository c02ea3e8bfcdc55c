import assert from 'node:assert/strict';
import type { LookupFunction } from 'node:net';
import { test } from 'node:test';
import { createReach, findReachProblems } from './reach.ts';

const isAllowed = (entries: string[], host: string): boolean => {
  try {
    createReach(entries).assertHost(host);
    return true;
  } catch {
    return false;
  }
};

/** Looks up a name that resolves to the given addresses. Resolves to the allowed addresses, or to the error. */
const look = (entries: string[], host: string, addresses: string[]): Promise<unknown> => {
  const resolve: LookupFunction = (_host, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  return new Promise((done) => {
    createReach(entries, resolve).lookup(host, { all: true }, (error, found) =>
      done(error ? error.message : (found as { address: string }[]).map(({ address }) => address)),
    );
  });
};

test('without entries, all addresses except link-local addresses and cloud metadata are allowed, in any notation', () => {
  for (const host of ['127.0.0.1', '10.0.0.1', '[::1]', '192.0.2.1', 'db.example'])
    assert.ok(isAllowed([], host), host);
  for (const host of [
    '169.254.169.254',
    '[::ffff:169.254.169.254]',
    '[64:ff9b::a9fe:a9fe]',
    '[fe80::1]',
    '[fd00:ec2::254]',
    '100.100.100.200',
    '168.63.129.16',
    '[64:ff9b:1::a9fe:a9fe]',
    '[::ffff:0:a9fe:a9fe]',
    '[2002:a9fe:a9fe::1]',
  ]) {
    assert.ok(!isAllowed([], host), host);
  }
});

test('with entries, only the addresses, blocks and names of watchTargets are allowed', () => {
  const entries = ['10.0.0.0/8', '192.0.2.7', '*.example'];
  assert.deepEqual(
    ['10.1.2.3', '192.0.2.7', '192.0.2.8', '[::ffff:10.0.0.1]'].map((host) => isAllowed(entries, host)),
    [true, true, false, true],
  );
  assert.ok(isAllowed(['169.254.0.0/16'], '169.254.169.254'));
  assert.deepEqual(
    ['a.example', 'a.test'].map((host) => isAllowed(['*.example'], host)),
    [true, false],
  );
});

test('the addresses of a name are checked at each look-up', async () => {
  assert.deepEqual(await look([], 'a.example', ['192.0.2.1', '169.254.169.254']), ['192.0.2.1']);
  const refusal = 'a.example is not allowed by watchTargets';
  assert.equal(await look([], 'a.example', ['169.254.169.254', '::ffff:169.254.1.1']), refusal);
  assert.deepEqual(await look(['*.example'], 'A.example', ['192.0.2.1']), ['192.0.2.1']);
  assert.equal(await look(['*.example'], 'a.example', ['169.254.169.254']), refusal);
  assert.equal(await look(['10.0.0.0/8'], 'a.example', ['192.0.2.1']), refusal);
});

test('an invalid entry is refused', () => {
  assert.deepEqual(findReachProblems(['10.0.0.0/8', '192.0.2.1', '*.example']), []);
  assert.match(
    findReachProblems(['http://a/', '::1']).join(),
    /^watchTargets: "http:\/\/a\/" must be an address[^"]*$/,
  );
});
