import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toAddressGroup } from './address-group.ts';

test('each IPv4 address is its own group', () => {
  assert.equal(toAddressGroup('192.0.2.1'), '192.0.2.1');
  assert.equal(toAddressGroup('192.0.2.2'), '192.0.2.2');
});

test('an IPv4-mapped IPv6 address counts as the IPv4 address, in every spelling', () => {
  const spellings = [
    '::ffff:192.0.2.1',
    '::FFFF:192.0.2.1',
    '::ffff:c000:201',
    '::ffff:C000:0201',
    '0:0:0:0:0:ffff:192.0.2.1',
    '0000:0000:0000:0000:0000:ffff:c000:0201',
    '0::ffff:192.0.2.1',
    '::0:ffff:c000:201',
    '::ffff:192.0.2.1%eth0',
    '[::ffff:c000:201]:80',
  ];
  for (const ip of spellings) assert.equal(toAddressGroup(ip), '192.0.2.1', ip);
});

test('the IPv6 addresses of a /64 are one group, in every spelling', () => {
  const same = [
    '2001:db8:0:1::1',
    '2001:db8:0:1::2',
    '2001:0DB8:0000:0001:ffff:0:0:1',
    '2001:db8::1:0:0:0:9',
    '2001:db8:0:1:2:3:192.0.2.1',
    '2001:db8:0:1::1%eth0',
    '2001:db8:0:1::1%br-lan.7',
  ];
  for (const ip of same) assert.equal(toAddressGroup(ip), '2001:db8:0:1::/64', ip);
  assert.equal(toAddressGroup('2001:db8:0:2::1'), '2001:db8:0:2::/64');
  for (const ip of ['::1', '::', '0:0:0:0:0:0:0:1']) assert.equal(toAddressGroup(ip), '0:0:0:0::/64');
  assert.equal(toAddressGroup('fe80::'), 'fe80:0:0:0::/64');
});

test('the brackets and port added by a proxy are not part of the address', () => {
  assert.equal(toAddressGroup('192.0.2.1:50123'), '192.0.2.1');
  for (const text of ['[2001:db8:0:1::1]', '[2001:db8:0:1::2]:50123', '[2001:DB8:0:1::3%eth0]:1']) {
    assert.equal(toAddressGroup(text), '2001:db8:0:1::/64', text);
  }
  assert.equal(toAddressGroup('[::ffff:192.0.2.1]:80'), '192.0.2.1');
});

test('values that are not addresses are one group', () => {
  const texts = ['', 'unknown', '1.2.3', '0x7f.1', '2130706433', '192.0.2.01', 'g::1', '192.0.2.1:x', '[x]:1'];
  for (const text of [...texts, '192.0.2.1:1:1', '::ffff:1.2.3', 'x'.repeat(9999), undefined]) {
    assert.equal(toAddressGroup(text), 'no address', text?.slice(0, 20));
  }
});
