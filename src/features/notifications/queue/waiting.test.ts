import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../../test/support/random.ts';
import { toQueuedAlert } from '../forwarder/queued-alert.ts';
import { type Queued, WaitingMessages } from './waiting.ts';

const create = (seq: number, changes: object = {}) =>
  toQueuedAlert({ seq, id: `${seq}`, level: 'ERROR', time: '2026-01-31T08:30:00Z', ...changes });

type Message = ReturnType<typeof create>['content'];

const critical = { level: 'fatal' };
const keyed = { fingerprint: 'disk', sender: 'key:a', format: 'grafana' };

/**
 * Returns the seqs in the order in which messages are taken at `now`. Each message is removed before the next is taken.
 */
const drain = (waiting: WaitingMessages<Message>, now = 0): number[] => {
  const seqs: number[] = [];
  for (let next = waiting.take(now); next; next = waiting.take(now)) {
    seqs.push(next.seq);
    waiting.remove(next);
  }
  return seqs;
};

test('the newest critical alert is next, and then the oldest alert', () => {
  const waiting = new WaitingMessages<Message>();
  for (const seq of [1, 2, 5]) waiting.add(create(seq));
  for (const seq of [3, 4]) waiting.add(create(seq, critical));
  waiting.add(create(6, { ...critical, status: 'resolved' }));
  assert.deepEqual(drain(waiting), [4, 3, 1, 2, 5, 6]);
  assert.equal(waiting.size, 0);
});

test('a critical alert is not sent before an older alert with the same key', () => {
  const waiting = new WaitingMessages<Message>();
  waiting.add(create(1, keyed));
  waiting.add(create(2));
  waiting.add(create(3, { ...keyed, ...critical }));
  waiting.add(create(4, { ...keyed, sender: 'key:b', ...critical }));
  assert.deepEqual(drain(waiting), [4, 1, 3, 2]);
});

test('an alert that is not due holds back only alerts with the same key', () => {
  const waiting = new WaitingMessages<Message>();
  for (const seq of [1, 3]) waiting.add(create(seq, keyed));
  waiting.add(create(2));
  const first = waiting.take(0);
  assert.ok(first?.seq === 1);
  first.dueAt = 10;
  waiting.release(first, 0);
  assert.deepEqual(drain(waiting), [2]);
  assert.equal(waiting.nextDueAt, 10);
  assert.deepEqual(drain(waiting, 10), [1, 3]);
});

test('an alert that may have caused a failure comes after all others until the receiver recovers', () => {
  const waiting = new WaitingMessages<Message>();
  for (const seq of [1, 2, 3]) waiting.add(create(seq, seq === 1 ? critical : {}));
  const first = waiting.take(0);
  assert.ok(first?.seq === 1);
  first.possibleFaults = 1;
  waiting.release(first, 0);
  const second = waiting.take(0);
  assert.ok(second?.seq === 2);
  waiting.remove(second);
  waiting.allowEarly({ all: false });
  assert.deepEqual(drain(waiting), [1, 3]);
});

test('an alert is tried early only once before its next regular attempt', () => {
  const waiting = new WaitingMessages<Message>();
  waiting.add(create(1));
  const alert = waiting.take(0);
  assert.ok(alert);
  alert.dueAt = 10;
  waiting.release(alert, 0);
  waiting.allowEarly({ all: false });
  assert.equal(waiting.take(1), alert);
  waiting.release(alert, 1);
  waiting.allowEarly({ all: false });
  assert.equal(waiting.take(2), undefined);
  waiting.allowEarly({ all: true });
  assert.equal(waiting.take(3), alert);
});

test('once 10,000 alerts wait, no more alerts are added until half of them are settled', () => {
  const waiting = new WaitingMessages<Message>();
  for (let seq = 1; seq <= 10_000; seq += 1) waiting.add(create(seq));
  assert.equal(waiting.isFull, true);
  for (let seq = 1; seq <= 4999; seq += 1) waiting.remove(waiting.get(seq) ?? assert.fail());
  assert.equal(waiting.isFull, true);
  waiting.remove(waiting.get(5000) ?? assert.fail());
  assert.equal(waiting.isFull, false);
});

const events = fc.array(
  fc.record({
    what: fc.constantFrom('add', 'take', 'begin', 'done', 'again', 'later', 'hurry'),
    key: fc.constantFrom(undefined, 'a', 'b'),
    isCritical: fc.boolean(),
    pick: fc.nat(9),
  }),
  { maxLength: 80 },
);

test('in any order of events, alerts of a key are taken in order, one at a time, and none is lost', () => {
  fc.assert(
    fc.property(events, (list) => {
      const waiting = new WaitingMessages<Message>();
      const running: Queued<Message>[] = [];
      const asked = new Set<unknown>();
      const added = new Set<number>();
      let now = 0;
      for (const { what, key, isCritical, pick } of list) {
        now += 1;
        if (what === 'add') {
          // A given-up alert returns with its old number.
          const seq = pick < 3 ? 100 - now : 100 + now;
          added.add(seq);
          waiting.add(
            create(seq, { ...(isCritical && critical), ...(key !== undefined && { ...keyed, sender: key }) }),
          );
        } else if (what === 'take') {
          const next = waiting.take(now);
          if (!next) continue;
          const others = [...waiting.list()].filter(
            (one) => one !== next && one.key === next.key && next.key !== undefined,
          );
          for (const one of others) assert.ok(one.seq > next.seq || asked.has(one), `${one.seq} before ${next.seq}`);
          running.push(next);
        } else if (what === 'begin') {
          const alert = [...waiting.list()].filter(({ state }) => state !== 'running')[pick];
          if (!alert) continue;
          asked.add(alert);
          waiting.begin(alert);
          running.push(alert);
        } else if (what === 'hurry') {
          waiting.allowEarly({ all: pick > 4 });
        } else {
          const [alert] = running.splice(pick % Math.max(1, running.length), 1);
          if (!alert) continue;
          asked.delete(alert);
          alert.dueAt = what === 'later' ? now + pick : 0;
          if (what === 'later') alert.possibleFaults += 1;
          if (what === 'done') added.delete(alert.seq);
          if (what === 'done') waiting.remove(alert);
          else waiting.release(alert, now);
        }
      }
      for (const alert of running) waiting.release(alert, now);
      assert.deepEqual(new Set(drain(waiting, 1000)), added);
    }),
  );
});
