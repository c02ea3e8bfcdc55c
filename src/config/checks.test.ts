import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findConflicts, fitConnections } from './checks.ts';
import { loadSettings } from './load.ts';
import { createSettingsSchema } from './schema.ts';
import { SettingsError } from './settings-error.ts';

const load = (variables: Record<string, string>) => loadSettings(createSettingsSchema([]), {}, variables);

const trust = (blocks: string) => findConflicts(load({ SIGNALBOX_TRUST_PROXY: blocks }));

test('proxies can be given as addresses or CIDR blocks', () => {
  for (const blocks of ['', '10.0.0.1', '10.0.0.0/8,192.0.2.1/32', '::1', '2001:db8::/32', 'fe80::1/128']) {
    assert.deepEqual(trust(blocks), [], blocks);
  }
});

test('a trusted proxy that is not an address, or a block of all addresses, is refused', () => {
  const bad = ['true', '1', 'loopback', 'box.example', '10.0.0.0/0', '::/0', '10.0.0.0/33', '::1/129'];
  for (const block of [...bad, '10.0.0.0/', '10.0.0.0/8/8', '10.0.0.0/08', '10.0.0/8', '/8']) {
    assert.deepEqual(trust(block), [
      `trustProxy must contain addresses and CIDR blocks such as 10.0.0.0/8, not "${block}"`,
    ]);
  }
});

test('a headersTimeout longer than requestTimeout is refused', () => {
  const settings = load({ SIGNALBOX_HEADERS_TIMEOUT: '6', SIGNALBOX_REQUEST_TIMEOUT: '5' });
  assert.deepEqual(findConflicts(settings), ['headersTimeout 6 must not exceed requestTimeout 5']);
});

test('connections that fit within the limit on open files are not reduced', () => {
  for (const limit of [1164, 100_000, Number.POSITIVE_INFINITY]) {
    assert.deepEqual(fitConnections(1000, limit), { maxConnections: 1000 });
  }
  assert.deepEqual(fitConnections(3, 167), { maxConnections: 3 });
});

test('maxConnections is reduced to fit the limit on open files, but not below ten', () => {
  for (const [limit, maxConnections] of [
    [1163, 999],
    [256, 92],
    [174, 10],
  ] as const) {
    const fit = fitConnections(1000, limit);
    assert.equal(fit.maxConnections, maxConnections);
    assert.match(fit.warning ?? '', new RegExp(`is ${maxConnections} instead of 1000, .* is ${limit}; raise`));
  }
  assert.throws(() => fitConnections(1000, 173), SettingsError);
  assert.throws(() => fitConnections(4, 167), SettingsError);
});
