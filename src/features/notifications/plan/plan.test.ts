import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { amount } from '../../../../test/support/long.ts';
import type { Address, NotificationEvent, NotificationState, SharedIncident } from '../../../kit/incident.ts';
import { rankOf, type Severity } from '../../../kit/severity.ts';
import { type Circumstances, type NotificationPlan, planNotification, type UsableHours } from './plan.ts';
import { type IncidentOptions, toIncidentRules } from './rules.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
/** A Saturday. */
const start = Date.parse('2026-01-31T09:30:00Z');

const create = (changes: Partial<SharedIncident> = {}): SharedIncident => ({
  id: 'i',
  number: 1,
  about: 'k',
  sender: null,
  state: 'open',
  level: 'ERROR',
  highestLevel: 'ERROR',
  title: 'disk is full',
  source: 'backup',
  hostname: 'web-1',
  labels: null,
  link: null,
  count: 1,
  firstAt: start,
  lastAt: start,
  openedAt: start,
  stateSince: start,
  openings: 1,
  raisedAt: null,
  acknowledged: null,
  resolved: null,
  reopened: 0,
  task: null,
  snapshot: null,
  isOld: false,
  notices: {},
  silenced: null,
  lastAlert: 'a',
  version: 1,
  change: 1,
  ...changes,
});

const createState = (changes: Partial<NotificationState> = {}): NotificationState => ({
  what: 'opened',
  level: 'ERROR',
  at: start,
  opening: 1,
  isTold: true,
  ...changes,
});

/** Hours from 8:00 to 18:00 UTC, every day. */
const daytime: UsableHours = {
  isWithin: (at) => new Date(at).getUTCHours() >= 8 && new Date(at).getUTCHours() < 18,
  nextWithin: (at) => {
    if (daytime.isWithin(at)) return at;
    const day = Math.floor(at / (24 * hour)) * 24 * hour;
    return at < day + 8 * hour ? day + 8 * hour : day + 32 * hour;
  },
};

const plan = (
  keys: IncidentOptions,
  incident: SharedIncident,
  last?: NotificationState,
  {
    now = Math.max(incident.stateSince, incident.raisedAt ?? 0, last?.at ?? 0),
    isOnCall = true,
    isSilenced = false,
    ...more
  }: Partial<Circumstances> = {},
): NotificationPlan =>
  planNotification(
    incident,
    last,
    toIncidentRules(keys, () => daytime),
    { now, isOnCall, isSilenced, ...more },
  );

/** Returns the notification and the seconds until it is sent, or the reason why it is not sent. */
const show = (found: NotificationPlan): unknown => {
  if (!found || found === 'forget') return found;
  const { what, dueAt, waitsFor } = found;
  return Number.isFinite(dueAt) ? [what, (dueAt - start) / second] : [what, waitsFor];
};

const atOnce: IncidentOptions = { groupSeconds: 0 };
const acknowledged = { by: 'anna', at: start + minute, until: null, comment: null };
const taken = create({ state: 'acknowledged', stateSince: start + minute, acknowledged });
const over = create({
  state: 'resolved',
  stateSince: start + hour,
  resolved: { by: 'anna', at: start + hour, reason: 'person' },
});

test('by default an incident notifies 10 s after it opens, rises and is resolved', () => {
  assert.deepEqual(show(plan({}, create())), ['opened', 10]);
  assert.equal(plan({}, create(), createState()), undefined);
  const raised = create({ level: 'CRITICAL', raisedAt: start + minute });
  assert.deepEqual(show(plan({}, raised, createState())), ['raised', 70]);
  assert.equal(plan({}, raised, createState({ what: 'raised', level: 'CRITICAL' })), undefined);
  assert.equal(plan({}, taken, createState()), undefined);
  assert.equal(plan({}, taken), undefined);
  assert.deepEqual(show(plan({}, over, createState())), ['resolved', 3610]);
  assert.equal(plan({}, create({ level: 'WARNING' }), createState()), undefined);
});

test('everyone notified of an incident gets its resolution, and nobody else does', () => {
  assert.equal(plan(atOnce, over), undefined);
  assert.equal(plan(atOnce, over, createState({ isTold: false })), 'forget');
  const pending = createState({ opening: 0, isTold: false, isPending: true });
  assert.deepEqual(show(plan(atOnce, over, pending)), ['resolved', 3600]);
  assert.deepEqual(show(plan(atOnce, create(), pending)), ['opened', 0]);
  assert.equal(plan({ ...atOnce, on: ['opened', 'acknowledged'] }, taken, pending), undefined);
  assert.equal(plan({ ...atOnce, on: ['opened'] }, over, createState()), 'forget');
  assert.deepEqual(show(plan({ ...atOnce, levels: ['CRITICAL'] }, over, createState())), ['resolved', 3600]);
  assert.deepEqual(show(plan(atOnce, over, createState(), { isOnCall: false })), ['resolved', 3600]);
});

test('a reopened incident notifies again', () => {
  const again = create({ openings: 2, stateSince: start + hour });
  assert.deepEqual(show(plan(atOnce, again, createState())), ['opened', 3600]);
  assert.equal(plan(atOnce, again, createState({ opening: 2 })), undefined);
  const raised = create({ ...again, level: 'CRITICAL', raisedAt: start + hour });
  assert.deepEqual(show(plan(atOnce, raised, createState())), ['raised', 3600]);
});

test('on: only the listed events notify', () => {
  assert.equal(plan({ ...atOnce, on: ['raised'] }, create()), undefined);
  const raised = create({ level: 'CRITICAL', raisedAt: start + minute });
  assert.deepEqual(show(plan({ ...atOnce, on: ['raised'] }, raised)), ['raised', 60]);
  assert.equal(plan({ ...atOnce, on: ['opened'] }, raised, createState()), undefined);
  const on: NotificationEvent[] = ['opened', 'acknowledged'];
  assert.deepEqual(show(plan({ ...atOnce, on }, taken, createState())), ['acknowledged', 60]);
  assert.equal(plan({ ...atOnce, on }, taken, createState({ what: 'acknowledged' })), undefined);
  assert.equal(plan({ ...atOnce, on }, taken), undefined);
  assert.deepEqual(show(plan({ ...atOnce, on: ['acknowledged'] }, taken)), ['acknowledged', 60]);
});

test('after: an incident notifies once it has been open and unacknowledged for this time', () => {
  const keys = { ...atOnce, after: 1.5 };
  assert.deepEqual(show(plan(keys, create())), ['opened', 90]);
  assert.equal(plan(keys, taken), undefined);
  const ended = create({ openings: 2, stateSince: start + hour });
  assert.deepEqual(show(plan(keys, ended)), ['opened', 3690]);
  const found = plan(keys, create());
  assert.ok(found && found !== 'forget' && found.isEscalation && found.waitsFor === 'after');
  // A destination that got the opening is notified immediately when the level rises.
  const raised = create({ level: 'CRITICAL', raisedAt: start + minute });
  assert.deepEqual(show(plan(keys, raised, createState())), ['raised', 60]);
  assert.equal(plan(keys, over), undefined);
});

test('repeat: an open, unacknowledged incident sends reminders at this interval', () => {
  const keys = { ...atOnce, repeat: 0.5 };
  assert.deepEqual(show(plan(keys, create(), createState())), ['reminder', 30]);
  assert.deepEqual(show(plan(keys, create(), createState({ what: 'reminder', at: start + minute }))), ['reminder', 90]);
  assert.equal(plan(keys, taken, createState()), undefined);
  assert.deepEqual(show(plan({ ...keys, on: ['resolved'] }, create())), ['reminder', 30]);
});

test('groupSeconds: a notification is due after this time, or immediately with 0', () => {
  assert.deepEqual(show(plan({ groupSeconds: 60 }, create())), ['opened', 60]);
  assert.deepEqual(show(plan({ groupSeconds: 60, after: 1 }, create())), ['opened', 120]);
  assert.deepEqual(show(plan({ groupSeconds: 0 }, create())), ['opened', 0]);
});

test('a clock that was set back since delays no notification', () => {
  const now = start - 24 * hour;
  const due = (keys: IncidentOptions, last?: NotificationState): unknown => {
    const found = plan(keys, create(), last, { now });
    return found && found !== 'forget' && [found.what, found.dueAt - now, found.happenedAt - start];
  };
  assert.deepEqual(due({}), ['opened', 0, 0]);
  assert.deepEqual(due({ after: 5 }), ['opened', 0, 5 * minute]);
  assert.deepEqual(due({ repeat: 5 }, createState()), ['reminder', 0, 5 * minute]);
  assert.deepEqual(show(plan({ after: 5 }, create(), undefined, { now: start - second })), ['opened', 310]);
});

test('levels and sources: other incidents never notify, not even of a rise', () => {
  assert.equal(plan({ ...atOnce, levels: ['critical'] }, create()), undefined);
  assert.deepEqual(show(plan({ ...atOnce, levels: ['critical'] }, create({ level: 'CRITICAL' }))), ['opened', 0]);
  assert.equal(plan({ ...atOnce, sources: ['web*'] }, create()), undefined);
  assert.deepEqual(show(plan({ ...atOnce, sources: ['back*'] }, create())), ['opened', 0]);
});

test('hours: outside the hours a notification waits for the next hours, unless its level is in hoursExcept', () => {
  const night = create({ stateSince: start + 9 * hour });
  const now = start + 9 * hour;
  const keys = { ...atOnce, hours: 'x' };
  assert.deepEqual(show(plan(keys, night, undefined, { now })), ['opened', 22.5 * 3600]);
  assert.deepEqual(
    show(plan(keys, create(night.level === 'ERROR' ? { ...night, level: 'CRITICAL' } : {}), undefined, { now })),
    ['opened', 9 * 3600],
  );
  assert.deepEqual(show(plan({ ...keys, hoursExcept: ['ERROR'] }, night, undefined, { now })), ['opened', 9 * 3600]);
  // The incident opened within the hours, but the receiver was unavailable until they ended.
  assert.deepEqual(show(plan(keys, create(), undefined, { now })), ['opened', 22.5 * 3600]);
  // The hours end while incidents are being collected.
  const late = create({ stateSince: start + 8.5 * hour - 5 * second });
  const found = plan({ hours: 'x' }, late, undefined, { now: start + 8.5 * hour + 5 * second });
  assert.deepEqual(show(found), ['opened', 8.5 * 3600 + 5]);
});

test('a destination that is not on call gets no opening, and a silence holds back every notification', () => {
  assert.deepEqual(show(plan(atOnce, create(), undefined, { isOnCall: false })), ['opened', 'offDuty']);
  assert.deepEqual(show(plan(atOnce, create(), undefined, { isSilenced: true })), ['opened', 'silence']);
  assert.deepEqual(show(plan(atOnce, over, createState(), { isSilenced: true })), ['resolved', 'silence']);
});

const asked = (changes: Partial<Address> = {}): Address => ({
  firstAt: start + minute,
  at: start + minute,
  times: 1,
  opening: 1,
  reason: 'step',
  by: 'signalbox',
  ...changes,
});

test('a destination that an escalation step addresses gets the opening, and a reminder for each further step', () => {
  const ask = (last?: NotificationState, changes?: Partial<Address>, incident = create()) =>
    plan(atOnce, incident, last, { now: start + hour, address: asked(changes), isGoverned: true, isOnCall: false });
  assert.deepEqual(show(ask()), ['opened', 60]);
  assert.equal(ask(createState({ times: 1 })), undefined);
  assert.deepEqual(show(ask(createState({ times: 1 }), { at: start + hour, times: 2 })), ['reminder', 3600]);
  assert.deepEqual(show(ask(createState(), {}, create({ level: 'CRITICAL', raisedAt: start + 1 }))), ['raised', 60]);
  assert.equal(ask(createState(), {}, taken), undefined);
  assert.deepEqual(show(plan(atOnce, over, createState({ times: 1 }), { address: asked(), isGoverned: true })), [
    'resolved',
    3600,
  ]);
});

test('a delay counts from the first escalation step that addresses the destination, and an acknowledgement cancels the notification', () => {
  const rules = { ...toIncidentRules(atOnce, () => daytime), delayMs: 5 * minute };
  const ask = (incident: SharedIncident, changes: Partial<Address>, last?: NotificationState) =>
    show(
      planNotification(incident, last, rules, {
        now: start + hour,
        isOnCall: true,
        isSilenced: false,
        ...governed(changes),
      }),
    );
  const governed = (changes: Partial<Address>) => ({ address: asked(changes), isGoverned: true });
  assert.deepEqual(ask(create(), {}), ['opened', 360]);
  assert.deepEqual(ask(create(), { at: start + 4 * minute, times: 2 }), ['opened', 360]);
  assert.deepEqual(ask(create(), { at: start + hour, times: 2 }, createState({ times: 1 })), ['reminder', 3900]);
  assert.equal(ask(taken, {}), undefined);
});

test('a destination that only escalation steps notify gets rises in level, and ignores its own rules', () => {
  const governed = { isGoverned: true };
  assert.equal(plan(atOnce, create(), undefined, governed), undefined);
  assert.equal(plan({ ...atOnce, repeat: 1 }, create(), createState(), governed), undefined);
  assert.deepEqual(show(plan(atOnce, create({ level: 'CRITICAL', raisedAt: start + 1000 }), createState(), governed)), [
    'raised',
    1,
  ]);
});

test('a request from a person also notifies of an acknowledged incident', () => {
  for (const incident of [create(), taken]) {
    const address = asked({ reason: 'mention', by: 'user:anna' });
    assert.deepEqual(show(plan(atOnce, incident, undefined, { now: start + hour, address })), ['addressed', 60]);
    assert.notDeepEqual(show(plan(atOnce, incident, createState({ what: 'addressed', times: 1 }), { address })), [
      'addressed',
      60,
    ]);
  }
});

test('nobody is notified of incidents formed from alerts of a version without incidents', () => {
  assert.equal(plan(atOnce, create({ isOld: true })), undefined);
});

const levels: Severity[] = ['CRITICAL', 'ERROR', 'WARNING'];
const steps = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ pass: fc.constantFrom(1, 5 * second, 30 * second, minute, 7 * minute, 3 * hour) }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        event: fc.constantFrom('raise', 'lower', 'acknowledge', 'resolve', 'reopen', 'silence', 'onCall'),
      }),
    },
    { weight: 1, arbitrary: fc.record({ refuse: fc.boolean() }) },
  ),
  { minLength: 3, maxLength: 40 },
);
const settings = fc.record({
  on: fc.constantFrom(undefined, ['opened'], ['opened', 'resolved', 'acknowledged'], ['raised', 'resolved']),
  after: fc.constantFrom(undefined, 0.5, 5),
  repeat: fc.constantFrom(undefined, 1, 30),
  groupSeconds: fc.constantFrom(0, 10),
  hours: fc.constantFrom(undefined, undefined, 'x'),
  levels: fc.constantFrom(undefined, undefined, ['CRITICAL', 'ERROR']),
});

/** Expectations from a person's point of view, independent of the code. */
test('in any order of events, a destination gets each wanted notification once, and none that its rules forbid', () => {
  fc.assert(
    fc.property(steps, settings, (all, chosen) => {
      const keys = chosen as unknown as IncidentOptions;
      let incident = create();
      let last: NotificationState | undefined;
      let now = start;
      let [isSilenced, isOnCall, refuses] = [false, true, false];
      let lastReminder = Number.NEGATIVE_INFINITY;
      let openFor = start;
      const opened: number[] = [];
      const wants = (what: NotificationEvent): boolean => (keys.on ?? ['opened', 'raised', 'resolved']).includes(what);
      const isWanted = (): boolean => keys.levels?.includes(incident.level) ?? true;
      const sendPlanned = (): void => {
        const found = plan(keys, incident, last, { now, isOnCall, isSilenced });
        if (found === 'forget') {
          assert.ok(incident.state === 'resolved' && last && (!last.isTold || !wants('resolved')));
          last = undefined;
          return;
        }
        if (!found || found.dueAt > now) return;
        const { what } = found;
        assert.ok(!isSilenced, `${what} while silenced`);
        assert.ok(what !== 'addressed' && (what === 'reminder' ? keys.repeat !== undefined : wants(what)), what);
        if (keys.hours && incident.level !== 'CRITICAL' && !keys.groupSeconds)
          assert.ok(daytime.isWithin(now), 'outside its hours');
        if (what === 'resolved') {
          assert.ok(incident.state === 'resolved' && last?.isTold, 'a resolution without an opening');
          last = undefined;
          return;
        }
        assert.ok(isWanted(), `${what} of a level that it does not want`);
        if (what === 'acknowledged') assert.equal(incident.state, 'acknowledged');
        else {
          assert.ok(isOnCall, `${what} off duty`);
          assert.equal(incident.state, 'open');
        }
        if (what === 'opened') {
          assert.ok(!opened.includes(incident.openings), 'opened twice');
          opened.push(incident.openings);
          assert.ok(now - openFor >= (keys.after ?? 0) * minute, 'before its time');
        }
        if (what === 'raised' && last) assert.ok(rankOf(incident.level) < rankOf(last.level));
        if (what === 'reminder') {
          assert.ok(now - lastReminder >= (keys.repeat ?? 0) * minute, 'reminded too early');
          lastReminder = now;
        }
        const isTold = last?.isTold === true || !refuses;
        last = { what, level: incident.level, at: now, opening: incident.openings, isTold };
        // No further notification is due at this time.
        const next = plan(keys, incident, last, { now, isOnCall, isSilenced });
        assert.ok(!next || next === 'forget' || next.dueAt > now, 'the same twice');
      };
      const open = (changes: Partial<SharedIncident>): void => {
        openFor = now;
        incident = { ...incident, ...changes, state: 'open', stateSince: now, openings: incident.openings + 1 };
        incident = { ...incident, acknowledged: null, resolved: null };
      };
      for (const step of all) {
        if ('pass' in step) now += step.pass;
        else if ('refuse' in step) refuses = step.refuse;
        else {
          const { event } = step;
          const rank = rankOf(incident.level);
          if (event === 'silence') isSilenced = !isSilenced;
          if (event === 'onCall') isOnCall = !isOnCall;
          if (event === 'raise' && rank > 0 && incident.state !== 'resolved') {
            const level = levels[rank - 1] as Severity;
            if (incident.state === 'acknowledged') open({ level, raisedAt: now });
            else incident = { ...incident, level, raisedAt: now };
          }
          if (event === 'lower' && rank < 2) incident = { ...incident, level: levels[rank + 1] as Severity };
          if (event === 'acknowledge' && incident.state === 'open') {
            incident = {
              ...incident,
              state: 'acknowledged',
              stateSince: now,
              acknowledged: { ...acknowledged, at: now },
            };
          }
          if (event === 'resolve' && incident.state !== 'resolved') {
            incident = {
              ...incident,
              state: 'resolved',
              stateSince: now,
              resolved: { by: null, at: now, reason: 'quiet' },
            };
          }
          if (event === 'reopen' && incident.state !== 'open') open({ raisedAt: null });
        }
        sendPlanned();
      }
      // By the end, every notification that is due has been sent.
      [isSilenced, isOnCall, refuses] = [false, true, false];
      // At night, the notification waits for the day.
      now = daytime.nextWithin(now + 48 * hour) + hour;
      sendPlanned();
      if (incident.state === 'resolved') assert.equal(last, undefined);
      if (incident.state === 'open' && wants('opened') && isWanted()) {
        assert.equal(last?.opening, incident.openings, 'never notified');
      }
    }),
    { numRuns: amount(2000, 100_000) },
  );
});
