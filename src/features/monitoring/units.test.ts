import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/support/random.ts';
import { toDays, toRounded, toShare, toTimeSpan } from './routes.ts';

const spans: [number, string][] = [
  [0, '00:00:00.0000000'],
  [1, '00:00:00.0010000'],
  [59_999, '00:00:59.9990000'],
  [3_661_250, '01:01:01.2500000'],
  [86_399_999, '23:59:59.9990000'],
  [86_400_000, '1.00:00:00.0000000'],
  [123 * 86_400_000 + 4 * 3_600_000, '123.04:00:00.0000000'],
  [12.7, '00:00:00.0120000'],
  [-5, '00:00:00.0000000'],
];

for (const [milliseconds, text] of spans) {
  test(`${milliseconds} ms are formatted as ${text} (D24)`, () => assert.equal(toTimeSpan(milliseconds), text));
}

test('a time span keeps its milliseconds', () => {
  fc.assert(
    fc.property(fc.nat({ max: Number.MAX_SAFE_INTEGER }), (milliseconds) => {
      const match = /^(?:(\d+)\.)?(\d\d):(\d\d):(\d\d)\.(\d{3})0000$/.exec(toTimeSpan(milliseconds));
      const [days = 0, hours = 0, minutes = 0, seconds = 0, rest = 0] = (match ?? [])
        .slice(1)
        .map((part) => Number(part ?? 0));
      const total = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000 + rest;
      assert.equal(total, milliseconds);
      assert.ok(hours < 24 && minutes < 60 && seconds < 60);
    }),
  );
});

test('numbers are rounded, not truncated (D15)', () => {
  assert.deepEqual([toRounded(1.26, 1), toRounded(1.24, 1), toRounded(2, 2), toRounded(0.005, 1)], [1.3, 1.2, 2, 0]);
});

test('uptimes in days have one decimal', () => {
  assert.equal(toDays(86_400 * 12.34), 12.3);
  assert.equal(toDays(0), 0);
});

test('shares are formatted in percent', () => {
  assert.deepEqual([toShare(0.0694, 0), toShare(0.41678, 1), toShare(1, 1)], ['7%', '41.7%', '100.0%']);
});
