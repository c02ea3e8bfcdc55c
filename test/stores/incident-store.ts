import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ActionOn } from '../../src/features/incidents/action.ts';
import type { StoredIncident } from '../../src/features/incidents/incident.ts';
import type { Rules } from '../../src/features/incidents/rules.ts';
import type { IncidentStore } from '../../src/features/incidents/store.ts';
import { HttpError } from '../../src/http/errors.ts';
import { incidentStates } from '../../src/kit/incident.ts';
import { StoreConflict } from '../../src/lib/expected-errors.ts';
import type { StoredRecord } from '../../src/storage/journal/line.ts';
import { amount } from '../support/long.ts';
import { createScope, type Scope } from '../support/scope.ts';

const minute = 60_000;
const hour = 60 * minute;

export const rules: Rules = { level: 'WARNING', reopenMs: 30 * minute, quietMs: 24 * hour, retainMs: 0 };

/** Store, together with the log of alerts that it folds. */
interface IncidentLife {
  store: IncidentStore;
  /** Stores alerts. Resolves to their log records. */
  append(records: readonly Record<string, unknown>[]): Promise<StoredRecord[]>;
}

export type CreateLife = (t: Scope, clock: () => Date) => Promise<IncidentLife>;

/** Creates the time for a clock that tests can move. */
export const createTime = () => ({ now: Date.parse('2026-01-31T09:30:00Z') });

/** Creates the actions of a test on a store with a clock that the test moves. */
export const createLifeTools = async (t: Scope, create: CreateLife, time = createTime()) => {
  const life = await create(t, () => new Date(time.now));
  const { store } = life;
  const read = async (number: number): Promise<StoredIncident> => {
    const incident = await store.find(number);
    assert.ok(incident, `incident ${number}`);
    return incident;
  };
  return {
    ...life,
    read,
    pass: (ms: number): void => {
      time.now += ms;
    },
    now: () => time.now,
    /** Stores alerts received now and waits until they have been folded. */
    alert: async (...alerts: Record<string, unknown>[]): Promise<StoredRecord[]> => {
      const usual = { level: 'ERROR', fingerprint: 'k', status: 'firing', sender: 'key:a', source: '', hostname: '' };
      const records = alerts.map((fields) => ({
        ...usual,
        message: 'm',
        ...fields,
        time: new Date(time.now).toISOString(),
      }));
      const stored = await life.append(records);
      await store.catchUp();
      return stored;
    },
    act: async (number: number, action: Record<string, unknown> & { type: ActionOn['type'] }, expected?: number[]) => {
      const { id } = await read(number);
      return store.act({ by: 'anna', ...action, id } as ActionOn, expected);
    },
    eventsOf: async (number: number): Promise<string> => {
      const events = await store.listEvents((await read(number)).id);
      return events.map(({ type }) => type).join(' ');
    },
  };
};

/** Tests that every incident store must pass. */
export const testIncidentStore = (name: string, create: CreateLife): void => {
  test(`${name}: an incident is opened, acknowledged, raised, resolved, reopened, and resolved automatically`, async (t) => {
    const { store, alert, act, read, pass, now, eventsOf } = await createLifeTools(t, create);
    await alert({ message: '1', labels: { team: 'db' } }, { message: '2', link: 'https://desk.example/' });
    const first = await read(1);
    assert.deepEqual(
      [first.state, first.count, first.title, first.labels, first.link, first.version, first.sender],
      ['open', 2, '2', { team: 'db' }, 'https://desk.example/', 1, 'key:a'],
    );
    const taken = await act(1, { type: 'acknowledge', comment: 'c', until: now() + hour });
    assert.deepEqual([taken?.state, taken?.acknowledged?.by, taken?.version], ['acknowledged', 'anna', 2]);
    await alert({ level: 'CRITICAL' });
    assert.deepEqual([(await read(1)).state, (await read(1)).level], ['open', 'CRITICAL']);
    await act(1, { type: 'acknowledge', until: now() + hour });
    pass(hour);
    await store.catchUp();
    assert.equal((await read(1)).state, 'open');
    await alert({ status: 'resolved' });
    assert.deepEqual([(await read(1)).state, (await read(1)).resolved?.reason], ['resolved', 'sender']);
    pass(10 * minute);
    await alert({});
    assert.deepEqual([(await read(1)).state, (await read(1)).count], ['open', 5]);
    await act(1, { type: 'resolve', comment: 'done' });
    pass(31 * minute);
    await alert({}, { fingerprint: undefined });
    assert.deepEqual([(await read(2)).count, (await read(3)).count], [1, 1]);
    pass(24 * hour);
    await store.catchUp();
    assert.deepEqual([(await read(2)).state, (await read(3)).resolved?.reason], ['open', 'quiet']);
    const before = 'opened acknowledged raised reopened acknowledged snoozeEnded resolved';
    assert.equal(await eventsOf(1), `${before} reopened resolved`);
    assert.equal(store.failure, undefined);
  });

  test(`${name}: actions on unknown, resolved or changed incidents have no effect`, async (t) => {
    const { store, alert, act, eventsOf } = await createLifeTools(t, create);
    await alert({});
    assert.equal(await store.act({ type: 'resolve', id: '019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c55', by: 'a' }), undefined);
    assert.equal(await store.find(2), undefined);
    await assert.rejects(act(1, { type: 'comment', comment: 'x' }, [2, 3]), (error) => {
      return error instanceof StoreConflict && error.version === 1;
    });
    await act(1, { type: 'resolve' }, [1]);
    await assert.rejects(
      act(1, { type: 'acknowledge' }),
      (error) => error instanceof HttpError && error.status === 409,
    );
    await act(1, { type: 'task', task: 7 });
    await assert.rejects(act(1, { type: 'task', task: 8 }), { message: 'Incident #1 already has task 7' });
    assert.equal(await eventsOf(1), 'opened resolved taskCreated');
  });

  test(`${name}: lists are filtered, counted and in the order of changes`, async (t) => {
    const { store, alert, act, now } = await createLifeTools(t, create);
    const levels = ['CRITICAL', 'WARNING', 'CRITICAL', 'ERROR', 'WARNING'];
    await alert(
      ...levels.map((level, index) => ({
        level,
        fingerprint: `${index}`,
        source: `S\u0000${index % 2}`,
        message: `Ü ${index}`,
      })),
    );
    await act(2, { type: 'comment', comment: 'x' });
    await act(4, { type: 'acknowledge' });
    await act(5, { type: 'resolve' });
    const list = async (filter: object, limit = 10, before?: number) => {
      const found = await store.list({ states: incidentStates, ...filter }, limit, before);
      return { ...found, incidents: found.incidents.map(({ number }) => number) };
    };
    assert.deepEqual(await list({}), { total: 5, incidents: [5, 4, 2, 3, 1], next: undefined });
    const page = await list({}, 2);
    assert.deepEqual([page.incidents, page.total], [[5, 4], 5]);
    assert.deepEqual(await list({}, 3, page.next), { total: 5, incidents: [2, 3, 1], next: undefined });
    assert.deepEqual((await list({ states: ['open', 'acknowledged'] })).incidents, [4, 2, 3, 1]);
    assert.deepEqual((await list({ states: ['resolved'] })).incidents, [5]);
    assert.deepEqual((await list({ level: 'CRITICAL' })).incidents, [3, 1]);
    assert.deepEqual((await list({ source: 's\u00001' })).incidents, [4, 2]);
    assert.deepEqual((await list({ source: 's*' })).incidents, [5, 4, 2, 3, 1]);
    assert.deepEqual((await list({ source: '*\u00001' })).incidents, [4, 2]);
    assert.deepEqual((await list({ source: 's_1' })).incidents, []);
    assert.deepEqual((await list({ source: 's%' })).incidents, []);
    assert.deepEqual((await list({ source: 's\\*' })).incidents, []);
    assert.deepEqual((await list({ q: 'ü' }, 1)).total, 5);
    assert.deepEqual((await list({ q: '3' })).incidents, [4]);
    assert.deepEqual((await list({ number: 3 })).incidents, [3]);
    assert.deepEqual((await list({ since: now() + 1 })).incidents, []);
    assert.deepEqual((await list({ until: now() + 1 })).total, 5);
    assert.deepEqual(
      (await store.count()).filter(({ count }) => count > 0),
      [
        { state: 'open', level: 'CRITICAL', count: 2 },
        { state: 'open', level: 'WARNING', count: 1 },
        { state: 'acknowledged', level: 'ERROR', count: 1 },
        { state: 'resolved', level: 'WARNING', count: 1 },
      ],
    );
  });

  test(`${name}: each alert belongs to the one incident that has counted it`, async (t) => {
    const { store, alert, act, pass } = await createLifeTools(t, create);
    const alerts = await alert({}, { level: 'INFO', fingerprint: 'i' }, {});
    await act(1, { type: 'resolve' });
    alerts.push(...(await alert({ level: 'INFO' }, { status: 'resolved' })));
    await act(1, { type: 'reopen' });
    alerts.push(...(await alert({ level: 'INFO' })));
    await act(1, { type: 'resolve' });
    pass(hour);
    alerts.push(...(await alert({}, { sender: 'key:b' })));
    const named = await store.nameIncidents(alerts);
    assert.deepEqual(
      named.map((one) => one?.number),
      [1, undefined, 1, undefined, undefined, 1, 2, 3],
    );
    assert.deepEqual(await store.nameIncidents([]), []);
  });

  test(`${name}: notifications are stored, listed newest first, and change no version`, async (t) => {
    const { store, alert, act, read, now, pass } = await createLifeTools(t, create);
    await alert({ fingerprint: 'a' }, { fingerprint: 'b' });
    const notify = (number: number, destination: string, what = 'opened', isDelivered = true) =>
      act(number, {
        type: 'notify',
        destination,
        what,
        level: 'ERROR',
        opening: 1,
        isDelivered,
        result: isDelivered ? 'delivered' : 'the receiver responded 400',
      });
    await Promise.all([notify(1, 'pager'), notify(2, 'pager'), notify(1, 'desk', 'opened', false)]);
    const { version, notices } = await read(1);
    assert.equal(version, 1);
    assert.deepEqual(notices['pager'], { what: 'opened', level: 'ERROR', at: now(), opening: 1, isTold: true });
    assert.equal(notices['desk']?.isTold, false);
    pass(minute);
    await notify(2, 'pager', 'reminder');
    await act(1, { type: 'comment', comment: 'x' }, [1]);
    await act(1, { type: 'silence' });
    await act(1, { type: 'silence' });
    for (const number of [1, 2]) await act(number, { type: 'resolve' });
    await notify(2, 'pager', 'resolved');
    await act(1, { type: 'forget', destinations: ['desk'] });
    const unsettled = (await store.listUnsettled()).map(({ number }) => number);
    assert.deepEqual([unsettled, Object.keys((await read(1)).notices)], [[1], ['pager']]);
    const sent = await store.listSent({}, 10);
    assert.deepEqual(
      sent.slice(0, 2).map(({ incident, event, what }) => [incident.number, event, what]),
      [
        [2, 'notified', 'resolved'],
        [2, 'reminder', 'reminder'],
      ],
    );
    assert.equal(sent.length, 5);
    const { id } = await read(1);
    const ofOne = await store.listSent({ incident: id }, 10);
    assert.deepEqual(ofOne.map(({ destination }) => destination).toSorted(), ['desk', 'pager']);
    assert.equal((await store.listSent({ destination: 'pager' }, 10)).length, 4);
    assert.deepEqual(await store.listSent({}, 2, sent[2]?.change), sent.slice(3));
  });

  test(`${name}: an incident with very many events keeps the last 200`, async (t) => {
    const { store, alert, act, read } = await createLifeTools(t, create);
    await alert({});
    await Promise.all(Array.from({ length: 250 }, (_, index) => act(1, { type: 'comment', comment: `${index}` })));
    const events = await store.listEvents((await read(1)).id);
    assert.equal(events.length, 200);
    assert.equal((await read(1)).version, 251);
    assert.ok(events.every(({ type }) => type === 'comment'));
  });

  test(`${name}: listeners get each change once, and the counts of repeats`, async (t) => {
    const { store, alert, act } = await createLifeTools(t, create);
    const seen: string[] = [];
    store.onChanged((incidents) => {
      for (const { number, state, count } of incidents) seen.push(`${number} ${state} ${count}`);
    });
    await store.catchUp();
    await alert({});
    await alert({});
    await act(1, { type: 'acknowledge' });
    await store.catchUp();
    assert.deepEqual(seen, ['1 open 1', '1 open 2', '1 acknowledged 2']);
  });

  test(`${name}: listeners of a change see the change in the counts`, async (t) => {
    const { store, alert, act } = await createLifeTools(t, create);
    const counts: number[] = [];
    store.onChanged(([changed]) => {
      const isSame = ({ state, level }: { state: string; level: string }): boolean =>
        state === changed?.state && level === changed.level;
      counts.push(store.count().find(isSame)?.count ?? 0);
    });
    await store.catchUp();
    await alert({});
    await act(1, { type: 'acknowledge' });
    await store.catchUp();
    assert.deepEqual(counts, [1, 1]);
  });

  test(`${name}: changed settings apply to later alerts`, async (t) => {
    const { store, alert, read } = await createLifeTools(t, create);
    await alert({ level: 'WARNING', fingerprint: 'a' });
    store.changeRules({ ...rules, level: 'CRITICAL' });
    await store.catchUp();
    await alert({ level: 'ERROR', fingerprint: 'b' }, { level: 'CRITICAL', fingerprint: 'c' });
    assert.deepEqual([(await read(2)).about, await store.find(3)], ['c', undefined]);
  });
};

/** Alerts, actions and times, in any order. */
export const steps = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        alerts: fc.array(
          fc.record({
            fingerprint: fc.constantFrom('a', 'b', 'c'),
            level: fc.constantFrom('INFO', 'WARNING', 'ERROR', 'CRITICAL'),
            status: fc.constantFrom('firing', 'firing', 'resolved'),
          }),
          { minLength: 1, maxLength: 4 },
        ),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        number: fc.integer({ min: 1, max: 3 }),
        action: fc.constantFrom(
          'acknowledge',
          'snooze',
          'resolve',
          'reopen',
          'comment',
          'notify',
          'end',
          'forget',
          'silence',
        ),
      }),
    },
    { weight: 2, arbitrary: fc.record({ pass: fc.constantFrom(minute, 29 * minute, 31 * minute, hour, 24 * hour) }) },
  ),
  { minLength: 5, maxLength: 25 },
);

export type LifeTools = Awaited<ReturnType<typeof createLifeTools>>;
export type Step = typeof steps extends fc.Arbitrary<(infer One)[]> ? One : never;

export const takeStep = async ({ store, alert, act, pass, now }: LifeTools, step: Step): Promise<void> => {
  if ('alerts' in step) return void (await alert(...step.alerts));
  if ('pass' in step) {
    pass(step.pass);
    return store.catchUp();
  }
  const type = ({ snooze: 'acknowledge', end: 'notify' } as const)[step.action as 'snooze'] ?? step.action;
  const sent = {
    destination: 'pager',
    what: step.action === 'end' ? 'resolved' : 'opened',
    level: 'ERROR',
    opening: 1,
  };
  const details = {
    ...sent,
    isDelivered: true,
    result: 'delivered',
    destinations: ['pager'],
    type,
    comment: 'c',
    ...(step.action === 'snooze' && { until: now() + hour }),
  };
  await act(step.number, details).catch((error) =>
    assert.ok(error instanceof HttpError || error instanceof assert.AssertionError, String(error)),
  );
};

/**
 * Returns all incidents with their events, but without the ids and seqs of alerts, because these differ between logs.
 */
const readAll = async ({ store }: LifeTools) => {
  const { incidents } = await store.list({ states: incidentStates }, 100);
  return Promise.all(
    incidents.map(async ({ id, lastAlert: _, firingAlert: ___, previous, spans, ...incident }) => ({
      ...incident,
      previous: previous !== null,
      spans: spans.length,
      events: (await store.listEvents(id)).map(({ alert: __, ...event }) => event),
    })),
  );
};

/** Asserts that two kinds of stores have equal incidents after the same alerts, actions and times. */
export const compareIncidentStores = async (one: CreateLife, other: CreateLife): Promise<void> => {
  const compare = async (all: readonly Step[]): Promise<void> => {
    const scope = createScope();
    try {
      const lives = await Promise.all([createLifeTools(scope, one), createLifeTools(scope, other)]);
      const results = await Promise.all(
        lives.map(async (life) => {
          for (const step of all) await takeStep(life, step);
          return readAll(life);
        }),
      );
      assert.deepEqual(results[0], results[1]);
    } finally {
      await scope.end();
    }
  };
  await fc.assert(fc.asyncProperty(steps, compare), { numRuns: amount(15, 200) });
};
