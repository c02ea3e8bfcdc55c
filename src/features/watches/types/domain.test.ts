import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRegistry } from './domain.ts';

test('the list of RDAP servers is read by top-level domain, with https only, and damage is skipped', () => {
  const services = [
    [
      ['de', 'XN--P1AI'],
      ['http://plain.example/', 'https://rdap.example/'],
    ],
    [['com'], ['ftp://x']],
    ['net', 'https://net.example/v1'],
    7,
    [null, [null]],
  ];
  assert.deepEqual(
    [...readRegistry({ services })],
    [
      ['de', 'https://rdap.example/'],
      ['xn--p1ai', 'https://rdap.example/'],
      ['net', 'https://net.example/v1'],
    ],
  );
  for (const damaged of [undefined, null, [], { services: 'x' }]) assert.equal(readRegistry(damaged).size, 0);
});
