import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import ICAL from 'ical.js';
import { writeCalendar } from './ics.ts';

test('a calendar with any texts and times is read back, in lines of at most 75 bytes that end with CRLF', () => {
  // XML's line: calendar programs drop control characters, and iCalendar knows no CR in a text.
  const text = fc.string({ unit: 'binary', maxLength: 100 }).map((one) => `x${one.replace(/\p{Cc}/gu, ',;\\\n')}x`);
  const date = fc.integer({ min: 0, max: 4e9 }).map((seconds) => new Date(seconds * 1000));
  const event = fc.record({ uid: text, summary: text, start: date, end: date }, { noNullPrototype: true });
  const check = (name: string, events: Parameters<typeof writeCalendar>[0], changedAt: Date) => {
    const written = writeCalendar(events, { name, product: 'test', changedAt, hasReminders: true });
    const lines = written.split('\r\n');
    assert.equal(lines.pop(), '');
    assert.deepEqual(
      lines.filter((line) => /[\r\n]/.test(line) || Buffer.byteLength(line) > 75),
      [],
    );
    const calendar = new ICAL.Component(ICAL.parse(written));
    for (const key of ['name', 'x-wr-calname']) assert.equal(calendar.getFirstPropertyValue(key), name);
    const read = calendar.getAllSubcomponents('vevent').map((component) => {
      const { uid, summary, startDate, endDate } = new ICAL.Event(component);
      assert.equal(component.getFirstSubcomponent('valarm')?.getFirstPropertyValue('description'), summary);
      return { uid, summary, start: startDate.toJSDate(), end: endDate.toJSDate() };
    });
    assert.deepEqual(read, events);
  };
  fc.assert(fc.property(text, fc.array(event, { maxLength: 3 }), date, check));
});
