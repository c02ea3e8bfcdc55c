import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startCalendar, toCalendar, toStamp } from '../../../../test/support/absence-calendar.ts';
import { startApp } from '../../../../test/support/app.ts';
import { openEvents } from '../../../../test/support/events.ts';
import { longTest } from '../../../../test/support/long.ts';
import { waitUntil } from '../../../../test/support/wait.ts';
import { dayMs, hourMs } from '../../../lib/units.ts';
import { readAbsences } from './absence-events.ts';

const within = { startsAt: Date.parse('2026-03-01T00:00:00Z'), endsAt: Date.parse('2026-06-01T00:00:00Z') };

const read = async (...events: string[][]) => {
  const { absences, skipped } = await readAbsences(toCalendar(...events), within);
  return {
    skipped,
    times: absences.map(({ startsAt, endsAt }) =>
      [startsAt, endsAt].map((time) => new Date(time).toISOString().slice(0, 16)).join(' '),
    ),
  };
};

test('absences are events at their local times, with recurrences, without cancelled and transparent events', async () => {
  assert.deepEqual(
    await read(
      ['DTSTART;TZID=Europe/Berlin:20260327T220000', 'DTEND;TZID=Europe/Berlin:20260329T220000'],
      ['DTSTART:20260401T080000Z', 'DURATION:PT2H', 'RRULE:FREQ=WEEKLY;COUNT=3', 'EXDATE:20260408T080000Z'],
      ['DTSTART:20260501T080000Z', 'DTEND:20260501T090000Z', 'STATUS:CANCELLED'],
      ['DTSTART:20260502T080000Z', 'DTEND:20260502T090000Z', 'TRANSP:TRANSPARENT'],
      ['DTSTART:20200101T000000Z', 'DTEND:20200102T000000Z'],
    ),
    {
      skipped: 0,
      times: [
        '2026-03-27T21:00 2026-03-29T20:00',
        '2026-04-01T08:00 2026-04-01T10:00',
        '2026-04-15T08:00 2026-04-15T10:00',
      ],
    },
  );
});

test('endless recurrence rules are skipped, and too many recurrences are refused in time', async () => {
  const rules = [
    'FREQ=SECONDLY',
    'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=DAILY;INTERVAL=100000000',
    'FREQ=MONTHLY;BYDAY=5MO',
  ];
  const event = (rule: string) => ['DTSTART:20260301T000000Z', 'DTEND:20260301T000001Z', `RRULE:${rule}`];
  assert.deepEqual(await read(...rules.map(event)), { skipped: 4, times: [] });
  const daily = ['DTSTART:19000101T000000Z', 'DTEND:19000101T010000Z', 'RRULE:FREQ=DAILY'];
  await assert.rejects(read(daily), /an event of the calendar recurs too often/);
  const many = ['DTSTART:20260301T000000Z', 'DTEND:20260301T000001Z', 'RRULE:FREQ=DAILY'];
  await assert.rejects(
    read(...Array.from({ length: 2000 }, () => many)),
    /the calendar has too many events|takes too long/,
  );
  const unended = `BEGIN:VCALENDAR\r\n${'BEGIN:VEVENT\r\n'.repeat(700_000)}`;
  assert.deepEqual(await readAbsences(unended, within), { absences: [], skipped: 0 });
  await assert.rejects(readAbsences('<html></html>', within), /the response is not a calendar/);
  await assert.rejects(readAbsences(toCalendar(['DTSTART:nonsense']), within));
});

test('an absence proposes an override, which is created only when somebody accepts the proposal', async (t) => {
  const now = Math.floor(Date.now() / 1000) * 1000;
  const [from, until] = [now + 2 * dayMs, now + 2 * dayMs + 5 * hourMs];
  const url = await startCalendar(t, (response) =>
    response.end(toCalendar([`DTSTART:${toStamp(from)}`, `DTEND:${toStamp(until)}`])),
  );
  const app = await startApp(t);
  const [admin, reader] = [await app.login('admin'), await app.login('reader')];
  const layers = [{ people: ['reader'], handover: { every: '1 week' } }];
  const backup = { people: ['admin'], handover: { every: '1 week' }, until: '2026-01-05' };
  await app.request('PUT', '/api/rotations/ops', { token: admin, body: { layers: [backup, ...layers] } });
  const path = '/api/people/me/absences';
  for (const bad of ['http://localhost/a.ics', 'webcal://localhost/a.ics', 'soon', 'https://169.254.169.254/a.ics']) {
    assert.equal((await app.request('PUT', path, { token: reader, body: { url: bad } })).status, 400, bad);
  }
  assert.equal((await app.request('PUT', '/api/people/admin/absences', { token: reader, body: { url } })).status, 403);
  const set = await app.request<{ url: string }>('PUT', path, { token: reader, body: { url } });
  assert.equal(set.status, 201, set.text);
  assert.ok(!set.text.includes('anna.ics'));
  type Proposals = { data: { id: string; person: string; substitute: string; startsAt: string; endsAt: string }[] };
  const list = async () => (await app.request<Proposals>('GET', '/api/oncall/proposals', { token: reader })).json.data;
  await waitUntil('the absence proposes an override', async () => (await list()).length === 1);
  const [proposal] = await list();
  assert.deepEqual(
    [proposal?.person, proposal?.substitute, proposal?.startsAt, proposal?.endsAt],
    ['reader', 'admin', new Date(from).toISOString(), new Date(until).toISOString()],
  );
  const overrides = async () => (await app.request('GET', '/api/oncall/overrides')).json['count'];
  assert.equal(await overrides(), 0);
  const accept = `/api/oncall/proposals/${proposal?.id}/accept`;
  const accepted = await app.request('POST', accept, { token: reader, body: {} });
  assert.deepEqual(
    [accepted.status, accepted.json['member'], accepted.json['comment']],
    [201, 'admin', 'reader is absent'],
  );
  assert.deepEqual([await overrides(), (await list()).length], [1, 0]);
  assert.equal((await app.request('POST', accept, { token: reader, body: {} })).status, 404);
  const decline = (token: string) => app.request('POST', accept.replace('accept', 'decline'), { token });
  assert.equal((await decline(reader)).status, 404);
  await app.request('DELETE', `/api/oncall/overrides/${accepted.json['id']}`, { token: reader });
  assert.equal((await list()).length, 1);
  assert.equal((await decline('')).status, 401);
  const console = await openEvents(t, app.url, 'oncall', { token: admin });
  const before = console.events().filter(({ name }) => name === 'oncall').length;
  const declined = await decline(reader);
  assert.deepEqual([declined.status, declined.json['person']], [200, 'reader']);
  assert.deepEqual([(await list()).length, (await decline(reader)).status, await overrides()], [0, 404, 0]);
  await console.waitFor('oncall', before + 1);
  assert.equal((await app.request('DELETE', path, { token: reader })).status, 200);
  assert.equal((await app.request('GET', path, { token: reader })).status, 404);
});

test('the owner of a calendar sees that the calendar is too long or cannot be read', async (t) => {
  const chunk = Buffer.alloc(1024 * 1024, 'X-PADDING:0123456789\r\n');
  const url = await startCalendar(t, (response) => {
    response.on('error', () => undefined);
    for (let count = 0; count < 12; count += 1) response.write(chunk);
    response.end();
  });
  const app = await startApp(t);
  const token = await app.login('reader');
  const path = '/api/people/me/absences';
  await app.request('PUT', path, { token, body: { url } });
  const problem = async () => (await app.request('GET', path, { token })).json['problem'];
  await waitUntil('the problem is known', async () => (await problem()) !== null);
  assert.equal(await problem(), 'the calendar is longer than 10 MiB');
});

for (const [what, begin] of [
  ['never answers', ''],
  ['stops in the middle', 'BEGIN:VCALENDAR'],
]) {
  longTest(`a calendar that ${what} is reported after 20 seconds, and the next calendar is read`, async (t) => {
    const url = await startCalendar(t, (response) => {
      if (response.req.url === '/good.ics') response.end(toCalendar());
      else if (begin) response.write(begin);
    });
    const app = await startApp(t);
    const path = '/api/people/me/absences';
    const [admin, reader] = [await app.login('admin'), await app.login('reader')];
    const read = async (token: string) => (await app.request('GET', path, { token })).json;
    await app.request('PUT', path, { token: admin, body: { url } });
    await app.request('PUT', path, { token: reader, body: { url: url.replace('anna', 'good') } });
    // The second calendar is due when the clock is read next.
    await waitUntil('both are read', async () => (await read(reader))['readAt'] !== null, 100_000);
    const problem = 'the server did not send a complete response within 20 seconds';
    assert.deepEqual([(await read(admin))['problem'], (await read(reader))['problem']], [problem, null]);
  });
}
