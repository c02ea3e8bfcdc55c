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

test('what is no address is a group of its own', () => {
  for (const text of ['', 'unknown', '1.2.3', 'g::1']) assert.equal(toAddressGroup(text), text);
});
