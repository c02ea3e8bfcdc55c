import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toAddressGroup } from './address-group.ts';

test('IPv4 addresses are told apart, however they are written', () => {
  assert.equal(toAddressGroup('192.0.2.1'), '192.0.2.1');
  assert.equal(toAddressGroup('::ffff:192.0.2.1'), '192.0.2.1');
  assert.equal(toAddressGroup('::FFFF:192.0.2.1'), '192.0.2.1');
});

test('IPv6 addresses of one /64 are one group, however they are written', () => {
  const same = [
    '2001:db8:0:1::1',
    '2001:db8:0:1::2',
    '2001:0DB8:0000:0001:ffff:0:0:1',
    '2001:db8::1:0:0:0:9',
    '2001:db8:0:1:2:3:192.0.2.1',
    '2001:db8:0:1::1%eth0',
  ];
  for (const ip of same) assert.equal(toAddressGroup(ip), '2001:db8:0:1::/64', ip);
  assert.equal(toAddressGroup('2001:db8:0:2::1'), '2001:db8:0:2::/64');
  for (const ip of ['::1', '::', '0:0:0:0:0:0:0:1']) assert.equal(toAddressGroup(ip), '0:0:0:0::/64');
  assert.equal(toAddressGroup('fe80::'), 'fe80:0:0:0::/64');
});

test('an address with the port that a proxy adds is the address', () => {
  assert.equal(toAddressGroup('192.0.2.1:50123'), '192.0.2.1');
  for (const text of ['[2001:db8:0:1::1]', '[2001:db8:0:1::2]:50123', '[2001:DB8:0:1::3%eth0]:1']) {
    assert.equal(toAddressGroup(text), '2001:db8:0:1::/64', text);
  }
  assert.equal(toAddressGroup('[::ffff:192.0.2.1]:80'), '192.0.2.1');
});

test('all that is no address is one group', () => {
  for (const text of [
    '',
    'unknown',
    '1.2.3',
    'g::1',
    '192.0.2.1:x',
    '[x]:1',
    '192.0.2.1:1:1',
    'x'.repeat(9999),
  ]) {
    assert.equal(toAddressGroup(text), 'no address', text.slice(0, 20));
  }
});
