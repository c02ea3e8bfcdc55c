import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { amount } from '../../../test/support/long.ts';
import { HttpError } from '../../http/errors.ts';
import { createId, type StoredRecord } from '../../storage/journal/line.ts';
import type { ActionOn } from './action.ts';
import { Fold } from './fold.ts';
import { toFoldedAlert } from './folded-alert.ts';
import type { StoredIncident } from './incident.ts';
import { forgottenCount, Incidents, mostResolved } from './incidents.ts';
import type { Rules } from './rules.ts';
import { mostActive } from './transitions.ts';

const minute = 60_000;
const hour = 60 * minute;
const start = Date.parse('2026-01-31T09:30:00Z');
const usual: Rules = { level: 'WARNING', reopenMs: 30 * minute, quietMs: 24 * hour, retainMs: 0 };

/** Creates incidents that fold a test's alerts and actions one by one. */
const createLife = (rules = usual) => {
  const state = new Incidents(rules);
  let seq = 0;
  let now = start;
  const step = <T>(until: number, run: (fold: Fold) => T): T => {
    const fold = new Fold(state, state.rules, until);
    const result = run(fold);
    state.take(fold);
    return result;
  };
  const toRecord = (fields: Record<string, unknown>): StoredRecord => {
    seq += 1;
    return { level: 'ERROR', ...fields, id: createId(now), seq, time: new Date(now).toISOString() };
  };
  return {
    state,
    alert: (fields: Record<string, unknown> = {}) => {
      const alert = toFoldedAlert(toRecord({ key: 'x', fingerprint: 'k', status: 'firing', ...fields }));
      step(alert.at, (fold) => fold.addAlert(alert));
    },
    /** Folds alerts in one step, each a given number of milliseconds after the previous one. */
    alertTogether: (all: readonly [ms: number, fields: Record<string, unknown>][]) => {
      const alerts = all.map(([ms, fields]) => {
        now += ms;
        return toFoldedAlert(toRecord({ key: 'x', fingerprint: 'k', status: 'firing', ...fields }));
      });
      step(now, (fold) => {
        for (const alert of alerts) fold.addAlert(alert);
      });
    },
    act: (action: Omit<ActionOn, 'id' | 'by'>, number = 1) => {
      const id = state.find(number)?.id ?? '';
      return step(now, (fold) => {
        fold.advance(now);
        return fold.act({ ...action, id, by: 'anna', at: now } as never);
      });
    },
    pass: (ms: number) => {
      now += ms;
      step(now, (fold) => fold.advance(now));
    },
    /** Lets time pass without running a step. */
    wait: (ms: number) => {
      now += ms;
    },
    now: () => now,
    shown: (number = 1) => {
      const { id = '', state: name, count, level } = state.find(number) ?? {};
      const events = state.listEvents(id).map(({ type }) => type);
      return { state: name, count, level, events: events.join(' ') };
    },
  };
};

const resolving = (life: ReturnType<typeof createLife>): void => {
  life.alert();
  life.act({ type: 'resolve' });
};

test('only alerts of the level of the settings or worse open incidents, and unknown levels are WARNING', () => {
  const life = createLife({ ...usual, level: 'ERROR' });
  for (const level of ['INFO', 'WARNING', 'warn', 'P4']) life.alert({ fingerprint: level, level });
  assert.equal(life.state.size, 0);
  const other = createLife();
  for (const level of ['', 'whatever', 'crit']) other.alert({ fingerprint: `x${level}`, level });
  assert.deepEqual(
    [1, 2, 3].map((number) => other.shown(number).level),
    ['WARNING', 'WARNING', 'CRITICAL'],
  );
});

test('alerts of one incident have the same key, the same fingerprint and format, or the same texts without digits', () => {
  const life = createLife();
  const none = { fingerprint: undefined };
  life.alert({ ...none, message: '/var is 86 % full', source: 'disk', hostname: 'a' });
  life.alert({ ...none, message: '/var is 7 % full', source: 'disk', hostname: 'a' });
  life.alert({ ...none, message: '/var is 86 % full', source: 'disk', hostname: 'b' });
  life.alert({ ...none, message: '/var is 86 % full', source: 'disk', hostname: 'a', sender: 'address:10.0.0.1' });
  life.alert({ fingerprint: 'f', format: 'grafana' });
  life.alert({ fingerprint: 'f', format: 'alertmanager' });
  life.alert({ fingerprint: 'f', format: 'alertmanager', sender: 'key:a' });
  life.alert({ fingerprint: 'one', format: 'cloudevents', message: 'm' });
  life.alert({ fingerprint: 'two', format: 'cloudevents', message: 'm' });
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 7].map((number) => life.shown(number).count),
    [3, 1, 1, 1, 1, 2, undefined],
  );
});

test('an alert with empty texts keeps title, source and host name of its incident', () => {
  const life = createLife();
  life.alert({ message: 'disk is full', source: 'backup', hostname: 'db-1' });
  life.alert({ message: '', source: '', hostname: '', status: 'resolved' });
  const { title, source, hostname, state } = life.state.find(1) ?? {};
  assert.deepEqual([title, source, hostname, state], ['disk is full', 'backup', 'db-1', 'resolved']);
  life.alert({ message: 'disk is full again', source: 'cron', hostname: '' });
  const again = life.state.find(1);
  assert.deepEqual([again?.title, again?.source, again?.hostname], ['disk is full again', 'cron', 'db-1']);
});

test('an incident whose sender sends resolutions is not resolved for lack of alerts', () => {
  const life = createLife();
  life.alert({ fingerprint: 'am', format: 'alertmanager' });
  life.alert({ fingerprint: 'native' });
  life.alert({ fingerprint: 'native', status: 'resolved' });
  life.wait(hour);
  life.alert({ fingerprint: 'native' });
  life.alert({ fingerprint: 'other' });
  life.pass(1000 * hour);
  assert.deepEqual(
    [1, 2, 3, 4].map((number) => life.shown(number).state),
    ['open', 'resolved', 'open', 'resolved'],
  );
});

test('an incident that is raised while snoozed can be resolved for lack of alerts in the same step', () => {
  const life = createLife({ ...usual, quietMs: hour });
  life.alert();
  life.act({ type: 'acknowledge', until: life.now() + 2 * minute } as never);
  life.alertTogether([
    [minute, { level: 'CRITICAL' }],
    [75 * minute, { level: 'CRITICAL' }],
  ]);
  assert.equal(life.shown().events, 'opened acknowledged raised reopened resolved reopened');
});

test('an incident cannot be reopened if a newer incident has its key', () => {
  const life = createLife();
  resolving(life);
  life.wait(hour);
  life.alert();
  const reopen = (clause: string) =>
    assert.throws(() => life.act({ type: 'reopen' }), {
      message: `Incident #2 is a newer incident about the same problem: ${clause}`,
    });
  reopen('the newer incident is not resolved');
  life.act({ type: 'resolve' }, 2);
  reopen('reopen the newer incident');
  assert.equal(life.act({ type: 'reopen' }, 2)?.state, 'open');
});

test('alerts beyond the limit of active incidents are counted in one incident, which can be resolved like others', () => {
  const life = createLife();
  for (let index = 0; index < mostActive + 50; index += 1) life.alert({ fingerprint: `${index}` });
  life.alert({ fingerprint: 'x', level: 'CRITICAL' });
  life.alert({ fingerprint: '7' });
  assert.equal(life.state.size, mostActive + 1);
  const overflow = life.state.list({ states: ['open'], source: 'signalbox' }, 10).incidents;
  assert.deepEqual(
    overflow.map(({ count, level, number }) => [count, level, number]),
    [[51, 'CRITICAL', mostActive + 1]],
  );
  life.act({ type: 'resolve' }, mostActive + 1);
  assert.throws(() => {
    life.act({ type: 'resolve' }, 1);
    life.alert({ fingerprint: 'new' });
    life.act({ type: 'reopen' }, 1);
  }, /20000 incidents are open/);
});

test('the last resolved incidents are kept, independent of the steps in which alerts were folded', () => {
  const life = createLife({ ...usual, reopenMs: 0, retainMs: 1 });
  for (let index = 0; index < mostResolved + 5; index += 1) {
    life.alert({ fingerprint: `${index}` });
    life.alert({ fingerprint: `${index}`, status: 'resolved' });
  }
  // Incidents are forgotten only through an event.
  assert.deepEqual([life.state.size, life.state.hasForgettable(life.now())], [mostResolved + 5, true]);
  life.state.forgetOld(life.now());
  assert.deepEqual([life.state.size, life.state.hasForgettable(life.now())], [mostResolved - forgottenCount, false]);
  const first = forgottenCount + 6;
  assert.deepEqual([life.state.find(first - 1), life.state.find(first)?.number], [undefined, first]);
  life.state.forgetOld(life.now() + 2);
  assert.equal(life.state.size, 0);
});

const delivery = {
  type: 'notify',
  destination: 'pager',
  what: 'opened',
  level: 'ERROR',
  opening: 1,
  isDelivered: true,
  result: 'delivered',
} as const;

test('a notification keeps the version of an incident', () => {
  const life = createLife();
  life.alert();
  const before = life.state.find(1);
  life.wait(minute);
  const after = life.act({ ...delivery, isEscalation: true } as never);
  assert.deepEqual(after?.notices, {
    pager: { what: 'opened', level: 'ERROR', at: life.now(), opening: 1, isTold: true },
  });
  assert.deepEqual([after?.version, after?.lastEvent], [before?.version, 2]);
  assert.ok((after?.change ?? 0) > (before?.change ?? 0));
  life.act({ ...delivery, what: 'reminder' } as never);
  life.act({ type: 'comment', comment: 'c' } as never);
  assert.equal(life.shown().events, 'opened escalated reminder comment');
  const sent = life.state.listSent({}, 10);
  assert.deepEqual(
    sent.map(({ what, event, destination, result, incident }) => [what, event, destination, result, incident.number]),
    [
      ['reminder', 'reminder', 'pager', 'delivered', 1],
      ['opened', 'escalated', 'pager', 'delivered', 1],
    ],
  );
  assert.deepEqual(life.state.listSent({ destination: 'other' }, 10), []);
  assert.equal(life.state.listSent({}, 10, sent[0]?.change).length, 1);
});

test('a destination counts as notified after its first delivery, also if it refuses a later notification', () => {
  const life = createLife();
  life.alert();
  const refused = { ...delivery, isDelivered: false, result: 'the receiver responded 400' };
  const isTold = () => life.state.find(1)?.notices['pager']?.isTold;
  life.act(refused as never);
  assert.equal(isTold(), false);
  life.act(delivery as never);
  life.act({ ...refused, what: 'reminder' } as never);
  assert.equal(isTold(), true);
});

test('a resolved incident remembers its notified destinations until each gets the resolution or is removed', () => {
  const life = createLife();
  life.alert();
  for (const destination of ['a', 'b', 'c']) life.act({ ...delivery, destination } as never);
  life.act({ type: 'resolve' });
  assert.deepEqual(life.state.listUnsettled().length, 1);
  life.act({ ...delivery, destination: 'a', what: 'resolved' } as never);
  const { change = 0, lastEvent } = life.act({ type: 'forget', destinations: ['b', 'x'] } as never) ?? {};
  assert.deepEqual(Object.keys(life.state.find(1)?.notices ?? {}), ['c']);
  assert.equal(life.act({ type: 'forget', destinations: ['x'] } as never)?.change, change);
  assert.equal(life.state.find(1)?.lastEvent, lastEvent);
  life.act({ ...delivery, destination: 'c', what: 'resolved' } as never);
  assert.deepEqual(life.state.listUnsettled(), []);
});

test('the record of a first notification is pending while the notification is being sent', () => {
  const life = createLife();
  life.alert();
  life.act({ type: 'attempt', destination: 'pager' } as never);
  const pending = life.state.find(1)?.notices['pager'];
  assert.deepEqual([pending?.isTold, pending?.isPending, life.shown().events], [false, true, 'opened']);
  life.act(delivery as never);
  life.act({ type: 'attempt', destination: 'pager' } as never);
  const notified = life.state.find(1)?.notices['pager'];
  assert.deepEqual([notified?.isTold, notified?.isPending], [true, undefined]);
});

const anyStep = { type: 'escalate', opening: 1, after: null } as const;
const first = { policy: 'ops', round: 0, step: 1 };

test('a step of an escalation is taken once, and only after the previous step', () => {
  const life = createLife();
  life.alert();
  const { version } = life.act({ ...anyStep, place: first, targets: ['person:anna'] } as never) ?? {};
  const again = life.act({ ...anyStep, place: first, targets: ['person:anna'] } as never);
  assert.deepEqual([again?.version, life.shown().events], [version, 'opened addressed']);
  assert.deepEqual(again?.escalation, { ...first, at: life.now(), opening: 1 });
  life.wait(minute);
  const second = { ...first, step: 2 };
  life.act({ ...anyStep, after: second, place: { ...first, step: 3 }, targets: [] } as never);
  const taken = life.act({
    ...anyStep,
    after: first,
    place: second,
    targets: ['person:anna', 'destination:room'],
  } as never);
  assert.deepEqual(taken?.addressed, {
    'person:anna': {
      at: life.now(),
      by: 'anna',
      reason: 'step',
      firstAt: life.now() - minute,
      times: 2,
      opening: 1,
    },
    'destination:room': {
      at: life.now(),
      by: 'anna',
      reason: 'step',
      firstAt: life.now(),
      times: 1,
      opening: 1,
    },
  });
  assert.equal(life.shown().events, 'opened addressed addressed');
});

test('an acknowledgement ends an escalation; a rise in level and a new opening start it anew', () => {
  const life = createLife();
  life.alert();
  const take = (opening: number) =>
    life.act({ ...anyStep, opening, place: first, targets: ['person:anna'] } as never)?.escalation?.opening;
  assert.equal(take(1), 1);
  life.alert({ level: 'CRITICAL' });
  assert.equal(life.state.find(1)?.escalation, null);
  assert.equal(take(1), 1);
  life.act({ type: 'acknowledge' });
  const second = { ...first, step: 2 };
  life.act({ ...anyStep, after: first, place: second, targets: [] } as never);
  assert.equal(life.state.find(1)?.escalation?.step, 1);
  life.act({ type: 'reopen' });
  assert.equal(take(1), 1);
  assert.equal(take(2), 2);
  assert.deepEqual(life.state.find(1)?.addressed?.['person:anna']?.times, 1);
});

test('a request from a person appears in the timeline with its comment, and increments the version', () => {
  const life = createLife();
  life.alert();
  const before = life.act({ type: 'acknowledge' })?.version ?? 0;
  const after = life.act({ type: 'address', reason: 'mention', targets: ['person:ben'], comment: '@ben?' } as never);
  assert.equal(after?.version, before + 1);
  const event = life.state.listEvents(after?.id ?? '').at(-1);
  assert.deepEqual(
    [event?.type, event?.cause, event?.targets, event?.comment],
    ['addressed', 'mention', ['person:ben'], '@ben?'],
  );
});

test('a silence is recorded once for each opening and each rise of the level', () => {
  const life = createLife();
  const silence = () => life.act({ type: 'silence' } as never);
  life.alert({ level: 'WARNING' });
  silence();
  silence();
  life.alert({ level: 'ERROR' });
  silence();
  life.alert({ level: 'WARNING' });
  silence();
  life.act({ type: 'resolve' });
  silence();
  life.alert({ level: 'WARNING' });
  silence();
  assert.equal(life.shown().events, 'opened silenced raised silenced lowered resolved reopened silenced');
});

test('an incident of a version without notifications or pictures gets the missing members', () => {
  const life = createLife();
  life.alert();
  life.act({ type: 'acknowledge' });
  life.act({ type: 'reopen' });
  for (const missing of [['snapshot'], ['snapshot', 'openings', 'raisedAt', 'notices', 'silenced', 'lastEvent']]) {
    const stored = JSON.parse(JSON.stringify([...life.state.entries()].flat())) as Record<
      string,
      Record<string, unknown>
    >[];
    for (const { incident } of stored) for (const name of missing) delete incident?.[name];
    const state = new Incidents(usual);
    for (const entry of stored) state.restore(entry as never);
    assert.deepEqual(state.find(1), life.state.find(1));
  }
});

test('a picture is recorded once, keeps the version, and its deletion is recorded', () => {
  const life = createLife();
  life.alert();
  const act = (takenAt: number, isKept: boolean) => {
    life.act({ type: 'snapshot', takenAt, isKept } as never);
    return life.state.find(1)?.snapshot;
  };
  const version = life.state.find(1)?.version;
  assert.deepEqual([act(5, false), life.shown().events], [null, 'opened']);
  assert.deepEqual(act(5, true), { at: 5, isKept: true });
  assert.deepEqual(act(6, true), { at: 5, isKept: true });
  const change = life.state.find(1)?.change ?? 0;
  assert.deepEqual(act(5, false), { at: 5, isKept: false });
  assert.ok((life.state.find(1)?.change ?? 0) > change);
  // An incident has at most one picture.
  assert.deepEqual(act(7, true), { at: 5, isKept: false });
  assert.deepEqual([life.state.find(1)?.version, life.shown().events], [version, 'opened snapshotTaken']);
});

const keys = ['a', 'b'];
const levels = ['INFO', 'WARNING', 'ERROR', 'CRITICAL'];
const times = fc.constantFrom(0, 1, minute, 29 * minute, 31 * minute, 2 * hour, 23 * hour, 25 * hour);
const commands = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        alert: fc.constantFrom(...keys),
        level: fc.constantFrom(...levels),
        isResolved: fc.boolean(),
        format: fc.constantFrom(undefined, 'alertmanager'),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        act: fc.constantFrom(
          'acknowledge',
          'snooze',
          'resolve',
          'reopen',
          'comment',
          'task',
          'notify',
          'end',
          'forget',
        ),
        number: fc.integer({ min: 1, max: 4 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ pass: times }) },
  ),
  { maxLength: 40 },
);

/** Incident that the test expects, computed independently of the fold. Each key has a series of incidents. */
interface Expected {
  number: number;
  state: 'open' | 'acknowledged' | 'resolved';
  rank: number;
  highest: number;
  count: number;
  acknowledged: object | null;
  until: number;
  heard: number;
  endedAt: number;
  ends: boolean;
  task: boolean;
  row: string;
  openings: number;
  reopened: number;
  reason: string | undefined;
  /** Events that change the state or the level. */
  events: string[];
  notified: boolean;
}

const stateEvents = ['opened', 'raised', 'lowered', 'reopened', 'acknowledged', 'snoozeEnded', 'resolved'];

test('random alerts, actions and times lead to the incidents of the state table', () => {
  fc.assert(
    fc.property(commands, (all) => {
      const life = createLife();
      const rows = new Map<string, Expected[]>();
      const incidents: Expected[] = [];
      let now = start;
      let counted = 0;
      const open = (one: Expected, event = 'reopened'): void => {
        if (one.state === 'open') return;
        Object.assign(one, { state: 'open', until: Number.POSITIVE_INFINITY, openings: one.openings + 1 });
        Object.assign(one, { acknowledged: null, reason: undefined });
        if (event === 'reopened') one.reopened += 1;
        one.events.push(event);
      };
      const end = (one: Expected, reason: string, endedAt: number): void => {
        Object.assign(one, { state: 'resolved', reason, endedAt });
        one.events.push('resolved');
      };
      const pass = (to: number): void => {
        for (const one of incidents) {
          for (;;) {
            if (one.state === 'resolved') break;
            const snooze = one.state === 'acknowledged' ? one.until : Number.POSITIVE_INFINITY;
            const quiet = one.ends ? Number.POSITIVE_INFINITY : one.heard + 24 * hour;
            const next = Math.min(snooze, quiet);
            if (next > to) break;
            if (next === snooze) open(one, 'snoozeEnded');
            else end(one, 'quiet', quiet);
          }
        }
      };
      for (const command of all) {
        if ('pass' in command) {
          now += command.pass;
          // Usually no step follows, so time advances with the next alert or action.
          if (command.pass % 2 === 0) life.pass(command.pass);
          else life.wait(command.pass);
        } else if ('alert' in command) {
          pass(now);
          const { alert, level, isResolved, format } = command;
          life.alert({ fingerprint: alert, level, format, status: isResolved ? 'resolved' : 'firing' });
          const name = `${format} ${alert}`;
          const row = rows.get(name) ?? [];
          rows.set(name, row);
          const last = row.at(-1);
          const rank = levels.indexOf(level);
          if (last && last.state !== 'resolved') {
            counted += 1;
            last.count += 1;
            last.heard = now;
            if (isResolved) {
              end(last, 'sender', now);
              last.ends = true;
            } else if (rank > last.rank) {
              last.events.push('raised');
              open(last);
              Object.assign(last, { rank, highest: Math.max(rank, last.highest) });
            } else if (rank > 0 && rank < last.rank) {
              last.events.push('lowered');
              last.rank = rank;
            }
          } else if (!isResolved && rank > 0) {
            counted += 1;
            if (last && now - last.endedAt <= 30 * minute) {
              open(last);
              Object.assign(last, { rank, highest: Math.max(rank, last.highest), heard: now });
              last.count += 1;
            } else {
              const one: Expected = {
                number: incidents.length + 1,
                state: 'open',
                rank,
                highest: rank,
                count: 1,
                acknowledged: null,
                until: Number.POSITIVE_INFINITY,
                heard: now,
                endedAt: 0,
                ends: format !== undefined || last?.ends === true,
                task: false,
                row: name,
                openings: 1,
                reopened: 0,
                reason: undefined,
                events: ['opened'],
                notified: false,
              };
              row.push(one);
              incidents.push(one);
            }
          }
        } else {
          pass(now);
          const one = incidents[command.number - 1];
          const type = { snooze: 'acknowledge', end: 'notify' }[command.act as string] ?? command.act;
          const until = command.act === 'snooze' ? now + hour : undefined;
          const what = command.act === 'end' ? 'resolved' : 'opened';
          const sent = type === 'notify' ? { ...delivery, what } : { destinations: ['pager'] };
          const details = { ...sent, type, until, comment: 'c', task: 1 } as never;
          const newer = one && rows.get(one.row)?.at(-1) !== one;
          const isRefused =
            one &&
            ((type === 'acknowledge' && one.state === 'resolved') ||
              (type === 'reopen' && one.state === 'resolved' && newer) ||
              (type === 'task' && one.task));
          if (isRefused) {
            assert.throws(
              () => life.act(details, command.number),
              (error) => error instanceof HttpError && error.status === 409,
            );
            life.pass(0);
          } else life.act(details, command.number);
          if (!one || isRefused) continue;
          if (type === 'acknowledge') {
            const acknowledged = { by: 'anna', at: now, until: until ?? null, comment: 'c' };
            Object.assign(one, { state: 'acknowledged', acknowledged, until: until ?? Number.POSITIVE_INFINITY });
            one.events.push('acknowledged');
          }
          if (type === 'resolve' && one.state !== 'resolved') end(one, 'person', now);
          if (type === 'reopen') {
            if (one.state === 'resolved') one.heard = now;
            open(one);
          }
          if (type === 'notify') one.notified = command.act === 'notify';
          if (type === 'forget') one.notified = false;
          if (type === 'task') one.task = true;
        }
      }
      pass(now);
      life.pass(0);
      const found = incidents.map(({ number }) => {
        const shown = life.state.find(number) as StoredIncident;
        const events = life.state.listEvents(shown.id).map(({ type }) => type);
        return {
          number,
          state: shown.state,
          rank: levels.indexOf(shown.level),
          highest: levels.indexOf(shown.highestLevel),
          count: shown.count,
          acknowledged: shown.acknowledged,
          task: shown.task !== null,
          openings: shown.openings,
          reopened: shown.reopened,
          reason: shown.resolved?.reason,
          events: events.filter((type) => stateEvents.includes(type)),
          notified: 'pager' in shown.notices,
        };
      });
      assert.deepEqual(
        found,
        incidents.map(({ until: _, heard: __, endedAt: ___, ends: ____, row: _____, ...one }) => one),
      );
      assert.ok(incidents.every(({ number }) => (life.state.find(number)?.spans.length ?? 0) > 0));
      assert.deepEqual(
        life.state
          .listUnsettled()
          .map(({ number }) => number)
          .toSorted(),
        incidents.filter(({ state, notified }) => state !== 'resolved' || notified).map(({ number }) => number),
      );
      assert.equal(life.state.size, incidents.length);
      const sum = incidents.reduce((total, { count }) => total + count, 0);
      assert.equal(sum, counted);
      assert.equal(life.state.counters.active, incidents.filter(({ state }) => state !== 'resolved').length);
    }),
    { numRuns: amount(2000, 50_000) },
  );
});
