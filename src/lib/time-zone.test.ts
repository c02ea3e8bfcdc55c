import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { amount } from '../../test/support/long.ts';
import { findTimeZone, ZoneClock } from './time-zone.ts';

const at = (time: string): number => Date.parse(time);
const berlin = () => new ZoneClock('Europe/Berlin');

test('a local time is shown once, twice or never', () => {
  const clock = berlin();
  assert.deepEqual(clock.toTimes(at('2026-03-29T01:30:00Z')), [at('2026-03-29T00:30:00Z')]);
  assert.deepEqual(clock.toTimes(at('2026-03-29T02:30:00Z')), []);
  assert.deepEqual(clock.toTimes(at('2026-10-25T02:30:00Z')), [at('2026-10-25T00:30:00Z'), at('2026-10-25T01:30:00Z')]);
  assert.equal(clock.toFirstTime(at('2026-10-25T02:30:00Z')), at('2026-10-25T00:30:00Z'));
  assert.equal(clock.toFirstTime(at('2026-03-29T02:30:00Z')), at('2026-03-29T01:00:00Z'));
});

test('offset changes are found to the minute, and nowhere else', () => {
  const clock = berlin();
  const change = at('2026-03-29T01:00:00Z');
  assert.equal(clock.findChange(at('2026-03-01T00:00:00Z'), at('2026-12-01T00:00:00Z')), change);
  assert.equal(clock.findChange(change - 1, change), change);
  assert.equal(clock.findChange(change - 2, change - 1), undefined);
  assert.equal(clock.findChange(change, at('2026-10-25T00:59:59Z')), undefined);
  assert.equal(new ZoneClock('UTC').findChange(0, at('1980-01-01T00:00:00Z')), undefined);
});

test('zone names are accepted in any letter case, and offsets are not zone names', () => {
  assert.equal(findTimeZone('europe/berlin'), 'Europe/Berlin');
  for (const name of ['Mars/Olympus', '+01:00', '', 'Europe/Berlin '])
    assert.equal(findTimeZone(name), undefined, name);
});

test('in every zone a clock shows what Intl shows', () => {
  const zones = Intl.supportedValuesOf('timeZone');
  const time = fc.integer({ min: at('1975-01-01T00:00:00Z'), max: at('2100-01-01T00:00:00Z') });
  const model = fc.property(fc.constantFrom(...zones), time, (timeZone, ms) => {
    const shown = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(ms);
    const clock = new ZoneClock(timeZone);
    const local = clock.toLocal(ms);
    assert.equal(new Date(local).toISOString().slice(0, 19), shown.replace(' ', 'T'));
    assert.ok(clock.toTimes(local).includes(ms));
    const change = clock.findChange(ms, ms + 200 * 86_400_000);
    if (change === undefined) return;
    assert.notEqual(clock.offsetAt(change - 1), clock.offsetAt(change));
    assert.equal(clock.offsetAt(change - 1), clock.offsetAt(ms));
  });
  fc.assert(model, { numRuns: amount(300, 20_000) });
});
