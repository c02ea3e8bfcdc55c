import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { pino } from 'pino';
import { changeJournal, disk, fileOf, sendAlert } from '../../../test/support/alerts.ts';
import { startApp } from '../../../test/support/app.ts';
import { JournalError } from '../../storage/journal/errors.ts';

test('a stored line has the six fields, the time with its offset, and the fields of the log', async (t) => {
  const app = await startApp(t);
  const id = await sendAlert(app, { ...disk, other: 1, hostname: null });
  const line = JSON.parse(await readFile(fileOf(app), 'utf8'));
  const six = ['timestamp', 'source', 'level', 'message', 'hostname', 'receivedAt'];
  assert.deepEqual(Object.keys(line), [...six, 'time', 'sender', 'id', 'seq', 'crc']);
  assert.equal(line.id, id);
  assert.equal(line.time.slice(0, 19), line.timestamp);
  assert.equal(new Date(line.time).getTime(), new Date(line.timestamp).getTime() + Number(line.time.slice(20, 23)));
});

for (const [what, error, status] of [
  ['an unexpected error', new TypeError('no'), 500],
  ['a failed write', new JournalError('unavailable', 'no'), 503],
  ['a full queue', new JournalError('queue-full', 'no'), 503],
  ['a closed journal', new JournalError('closed', 'no'), 503],
  ['a long line', new JournalError('too-large', 'no'), 413],
] as const) {
  test(`${what} while an alert is stored gets ${status} and is ${status === 500 ? '' : 'not '}logged`, async (t) => {
    const lines: string[] = [];
    const log = pino({ level: 'error' }, { write: (line) => lines.push(line) });
    const features = changeJournal((journal) => ({ ...journal, append: () => Promise.reject(error) }));
    const app = await startApp(t, { features, log });
    const response = await app.request('POST', '/api/alert', { body: disk });
    assert.equal(response.status, status);
    assert.equal(response.headers['retry-after'], status === 500 ? undefined : '1');
    const text = status === 500 ? 'Internal server error' : 'The alert was not stored: no';
    assert.equal(response.json['error'], text);
    assert.equal(lines.length, status === 500 ? 1 : 0);
  });
}
