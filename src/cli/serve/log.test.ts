import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toReadable } from './log.ts';

const time = new Date(2026, 1, 3, 9, 5, 7, 42).getTime();

test('a log entry for people shows local time, level, message and details on one line', () => {
  const entry = { level: 30, time, pid: 1, hostname: 'h', signal: 'SIGTERM', count: 2, msg: 'ending' };
  assert.equal(toReadable(`${JSON.stringify(entry)}\n`), '09:05:07.042 INFO  ending  signal="SIGTERM"  count=2\n');
  assert.equal(toReadable(JSON.stringify({ level: 40, time, a: 1 })), '09:05:07.042 WARN    a=1\n');
});

test('an error keeps its stack, and control characters cannot break the line', () => {
  const entry = { level: 60, time, msg: 'a\nb\u001b[2K\u2028\u202ec', err: { stack: 'Error: x\n    at y\u009b' } };
  const line = toReadable(JSON.stringify(entry));
  assert.equal(
    line,
    '09:05:07.042 FATAL a\\u{a}b\\u{1b}[2K\\u{2028}\\u{202e}c  err={"stack":"Error: x\\n    at y\\u{9b}"}\n',
  );
});
