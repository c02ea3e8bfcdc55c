import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProxyCheck } from './trusted-proxies.ts';

test('addresses and blocks of both families are trusted, also when IPv4 is mapped into IPv6', () => {
  const isProxy = createProxyCheck(['10.1.0.0/16', '192.0.2.7', '2001:db8::/32', '::1']);
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '192.0.2.7', '2001:db8:1::5', '::1']) {
    assert.equal(isProxy(address), true, address);
  }
  for (const address of ['10.2.0.1', '192.0.2.8', '::ffff:192.0.2.8', '2001:db9::1', '::2', 'x', '', undefined]) {
    assert.equal(isProxy(address), false, address);
  }
});

test('without any, no address is trusted', () => {
  assert.equal(createProxyCheck([])('127.0.0.1'), false);
});
