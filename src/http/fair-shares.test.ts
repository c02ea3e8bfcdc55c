import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairShares, type Holder, type Share, toAddressGroup } from './fair-shares.ts';

const memory = 10_000;

type Activity = ReturnType<NonNullable<Holder['activity']>>;

/**
 * Creates shares of a total of 16, of which an address may hold 4 while others ask. Also returns the names of holders
 * that have lost their share.
 */
const createShares = (total = 16) => {
  const lost: string[] = [];
  let time = 0;
  const shares = new FairShares(total, { memory, now: () => time });
  return {
    shares,
    lost,
    pass: (ms: number): void => {
      time += ms;
    },
    take: (address: string, name = address, amount = 1, activity: Activity = 'idle'): Share | undefined =>
      shares.take(address, { lose: () => lost.push(name), activity: () => activity }, amount),
  };
};

const [big, small, other] = ['127.0.0.2', '127.0.0.3', '127.0.0.4'];

test('one address can hold the whole total while nobody else asks, and not more', () => {
  const { take, shares } = createShares();
  for (let count = 0; count < 16; count += 1) assert.ok(take(big));
  assert.equal(take(big), undefined);
  assert.equal(shares.held, 16);
});

test('when the total is reached, the address that holds the most loses its oldest part to an address that holds less', () => {
  const { take, lost, shares } = createShares();
  for (let count = 0; count < 12; count += 1) take(big, `big ${count}`);
  for (let count = 0; count < 4; count += 1) take(small, `small ${count}`);
  assert.ok(take(other));
  assert.ok(take(other));
  assert.deepEqual(lost, ['big 0', 'big 1']);
  assert.equal(shares.held, 16);
});

test('idle parts are lost before busy ones, whatever their age', () => {
  const { take, lost } = createShares(4);
  take(big, 'busy 0', 1, 'busy');
  take(big, 'idle 0');
  take(big, 'busy 1', 1, 'busy');
  take(big, 'idle 1');
  assert.ok(take(small));
  assert.deepEqual(lost, ['idle 0']);
  assert.ok(take(other));
  assert.deepEqual(lost, ['idle 0', 'idle 1']);
});

test('abandoned parts are lost first', () => {
  const { take, lost } = createShares(4);
  take(big, 'idle');
  take(big, 'abandoned', 1, 'abandoned');
  take(big, 'busy', 1, 'busy');
  take(big, 'abandoned later', 1, 'abandoned');
  assert.ok(take(small));
  assert.deepEqual(lost, ['abandoned']);
});

test('abandoned parts are lost to their own address, and to an address that holds as much', () => {
  const { take, lost } = createShares(2);
  take(big, 'big 0');
  take(big, 'big 1', 1, 'abandoned');
  assert.ok(take(big, 'big 2', 1, 'abandoned'));
  assert.deepEqual(lost, ['big 1']);
  assert.ok(take(small, 'small', 1, 'abandoned'));
  assert.ok(take(other));
  assert.deepEqual(lost, ['big 1', 'big 2', 'small']);
});

test('an address that holds more does not get parts that addresses with less have abandoned', () => {
  const { take, lost } = createShares(4);
  for (let count = 0; count < 3; count += 1) take(big);
  take(small, 'small', 1, 'abandoned');
  assert.equal(take(big), undefined);
  assert.deepEqual(lost, []);
});

test('a growing part does not take its own place, although it was abandoned', () => {
  const { take, lost, shares } = createShares(4);
  const part = take(big, 'big', 4, 'abandoned');
  assert.ok(part);
  assert.equal(shares.grow(part, 1), false);
  assert.deepEqual(lost, []);
});

test('each separate holder counts as an address of its own', () => {
  const { shares, take, lost } = createShares(4);
  const holder = { lose: (): void => void lost.push('apart') };
  for (let count = 0; count < 3; count += 1) assert.ok(shares.takeApart(holder));
  take(big);
  assert.equal(take(big), undefined);
  assert.equal(take(small), undefined);
  assert.deepEqual(lost, []);
});

test('busy parts are lost when there are no idle parts', () => {
  const { take, lost } = createShares(2);
  take(big, 'busy 0', 1, 'busy');
  take(big, 'busy 1', 1, 'busy');
  assert.ok(take(small));
  assert.deepEqual(lost, ['busy 0']);
});

test('an address gets nothing from an address that holds no more than its own new total', () => {
  const { take, lost } = createShares(4);
  for (const address of [big, big, small, small]) take(address);
  assert.ok(take(other));
  assert.equal(take(other), undefined);
  assert.deepEqual(lost, [big]);
});

test('for some seconds after an address found no room, no other address grows beyond a quarter, although there is room', () => {
  const { take, shares, pass } = createShares();
  const parts = Array.from({ length: 16 }, () => take(big));
  assert.ok(take(small));
  for (const part of parts.slice(0, 13)) if (part) shares.release(part);
  assert.ok(shares.held < 8);
  assert.ok(take(big));
  assert.equal(take(big), undefined);
  for (let count = 0; count < 3; count += 1) assert.ok(take(small));
  assert.ok(take(small), 'the one that found no room is not kept to its share by itself');
  pass(memory);
  assert.ok(take(big));
});

test('addresses that found no room limit each other to their shares', () => {
  const { take, lost } = createShares();
  for (let count = 0; count < 16; count += 1) take(big);
  for (let count = 0; count < 4; count += 1) {
    assert.ok(take(small));
    assert.ok(take(other));
  }
  assert.equal(take(small), undefined);
  assert.equal(take(other), undefined);
  assert.equal(lost.length, 8);
});

test('an address beyond its share that finds no room does not limit others to their shares', () => {
  const { take, shares } = createShares();
  const parts = Array.from({ length: 11 }, () => take(small));
  for (let count = 0; count < 5; count += 1) take(big);
  assert.ok(take(big), 'from the one that holds more');
  for (const part of parts.slice(1, 4)) if (part) shares.release(part);
  assert.ok(take(small));
});

test('a part grows at the expense of the address that holds the most', () => {
  const { take, lost, shares } = createShares(100);
  take(big, 'big 0', 40);
  take(big, 'big 1', 50);
  const part = take(small, 'small', 5);
  assert.ok(part);
  assert.ok(shares.grow(part, 5));
  assert.deepEqual(lost, []);
  assert.ok(shares.grow(part, 10));
  assert.deepEqual(lost, ['big 0']);
  assert.equal(shares.held, 70);
  assert.equal(part.amount, 20);
});

test('a part that cannot grow keeps its amount', () => {
  const { take, shares } = createShares(100);
  const part = take(big, 'big', 90);
  assert.ok(part);
  assert.equal(shares.grow(part, 20), false);
  assert.equal(part.amount, 90);
  assert.ok(shares.grow(part, 10));
});

test('no address loses a part if the loss would not make enough room', () => {
  const { take, shares, lost } = createShares();
  for (let count = 0; count < 6; count += 1) take(big, `big ${count}`);
  for (let count = 0; count < 5; count += 1) take(small, `small ${count}`);
  const part = take(other, 'other', 1);
  assert.ok(part);
  assert.ok(take('127.0.0.5', 'more', 4));
  assert.equal(take('127.0.0.6', 'newcomer', 4), undefined);
  assert.deepEqual(lost, []);
  assert.equal(shares.held, 16);
  assert.ok(shares.grow(part, 3));
  assert.deepEqual(lost, ['big 0', 'big 1', 'small 0']);
});

test('a released part is free once, also if it was lost before', () => {
  const { take, shares } = createShares(2);
  const first = take(big);
  take(big);
  assert.ok(take(small));
  assert.ok(first);
  shares.release(first);
  shares.release(first);
  assert.equal(shares.held, 2);
});

test('an IPv6 /64 counts as one address', () => {
  const { take, lost } = createShares(4);
  for (let count = 1; count <= 4; count += 1) take(`2001:db8::${count}`, String(count));
  assert.equal(take('2001:db8::5'), undefined);
  assert.ok(take('2001:db8:0:1::1'));
  assert.deepEqual(lost, ['1']);
});

test('a total smaller than four leaves each address a share of one', () => {
  const { take } = createShares(3);
  for (let count = 0; count < 3; count += 1) assert.ok(take(big));
  assert.ok(take(small));
  assert.ok(take(other));
});

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
