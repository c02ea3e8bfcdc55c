import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MadeSetting, SettingStore } from '../offers.ts';
import { SilenceKeeper } from './keeper.ts';
import type { StoredSilence } from './silence.ts';

const day = 24 * 60 * 60 * 1000;

/** A keeper with settings in memory, and a clock that the test moves. */
const createKeeper = () => {
  let now = Date.parse('2026-03-28T12:00:00Z');
  let version = 0;
  const kept = new Map<string, MadeSetting>();
  let onChanged = (): void => undefined;
  const settings: SettingStore = {
    list: <T>() => [...kept.values()] as MadeSetting<T>[],
    find: () => undefined,
    put: async (_kind, name, value, by) => {
      version += 1;
      const setting = { name, value, version, by, at: now, createdAt: now };
      kept.set(name, setting);
      onChanged();
      return setting;
    },
    delete: async (_kind, name) => {
      const isThere = kept.delete(name);
      onChanged();
      return isThere;
    },
    isRead: () => true,
    catchUp: async () => undefined,
    onChanged: (_kind, listener) => {
      onChanged = listener;
    },
  };
  const keeper = new SilenceKeeper({ settings, clock: () => new Date(now), onUnusable: () => undefined });
  return {
    keeper,
    kept,
    now: () => now,
    jump: (ms: number) => {
      now += ms;
    },
    create: (changes: Partial<StoredSilence> = {}) =>
      keeper.create(
        {
          ...{ matching: { match: { source: 'a' } }, startsAt: now, endsAt: now + day, comment: '', createdBy: 'anna' },
          ...changes,
        },
        'anna',
      ),
    silenced: () =>
      keeper.silencesOf({ source: 'a', hostname: '', level: 'ERROR', text: '', labels: null }, now).length,
  };
};

test('there are at most 10,000 silences, and expired ones give way to new ones', async () => {
  const { keeper, kept, create } = createKeeper();
  const first = await create();
  for (let count = 1; count < 9995; count += 1) await create();
  const atOnce = await Promise.allSettled(Array.from({ length: 10 }, () => create()));
  assert.equal(atOnce.filter(({ status }) => status === 'fulfilled').length, 5);
  await assert.rejects(create(), { status: 409, message: /There are 10000 silences/ });
  await keeper.expire(first, 'anna');
  await create();
  assert.equal(kept.size, 10_000);
  assert.equal(keeper.find(first.setting.name), undefined);
});

test('there are at most 1,000 silences that recur', async () => {
  const { create } = createKeeper();
  const weekly = { recurring: { schedule: '0 2 * * 6', timeZone: 'UTC', minutes: 60 }, endsAt: null };
  for (let count = 0; count < 1000; count += 1) await create(weekly);
  await assert.rejects(create(weekly), { status: 409, message: /1000 silences with a schedule/ });
  await create();
});

test('there are at most 1,000 silences that every alert has to be compared with', async () => {
  const { keeper, create } = createKeeper();
  const matching = { match: { text: '*full*', level: 'ERROR' } };
  const first = await create({ matching });
  for (let count = 1; count < 1000; count += 1) await create({ matching });
  await assert.rejects(create({ matching }), { status: 409, message: /give the beginning of a source/ });
  await create();
  await keeper.expire(first, 'anna');
  await create({ matching });
  assert.equal(keeper.find(first.setting.name), undefined);
  const matchers = [{ name: 'text', value: '.+', isRegex: true, isEqual: true }];
  await assert.rejects(create({ matching: { matchers } }), { status: 409 });
});

test('an expired silence is removed after 30 days, and no other', async () => {
  const { keeper, kept, create, jump } = createKeeper();
  await create();
  const later = await create({ endsAt: Date.now() + 1000 * day });
  const weekly = await create({ recurring: { schedule: '0 2 * * 6', timeZone: 'UTC', minutes: 60 }, endsAt: null });
  jump(31 * day - 1);
  await keeper.removeOld();
  assert.equal(kept.size, 3);
  jump(2);
  await keeper.removeOld();
  assert.deepEqual([...kept.keys()], [later.setting.name, weekly.setting.name]);
});

test('silences that overlap hold until the last one ends, whatever the clock does', async () => {
  const { keeper, create, now, jump, silenced } = createKeeper();
  const begin = now();
  await create({ endsAt: begin + 3 * day });
  await create({ startsAt: begin + day, endsAt: begin + 2 * day });
  await create({ recurring: { schedule: '0 12 * * *', timeZone: 'UTC', minutes: 60 }, endsAt: null });
  assert.equal(silenced(), 2);
  assert.equal(keeper.nextChangeAfter(now()), begin + 60 * 60_000);
  jump(day);
  assert.equal(silenced(), 3);
  jump(day);
  assert.deepEqual([silenced(), keeper.nextChangeAfter(now())], [2, now() + 60 * 60_000]);
  jump(1.5 * day);
  assert.deepEqual([silenced(), keeper.nextChangeAfter(now())], [0, begin + 4 * day]);
  jump(-3.5 * day);
  assert.equal(silenced(), 2);
  jump(-1);
  assert.deepEqual([silenced(), keeper.nextChangeAfter(now())], [0, begin]);
});

test('one that a newer version has stored silences nothing, and the others do', async () => {
  const { kept, keeper, create, silenced } = createKeeper();
  const { setting } = await create();
  kept.set('new', { ...setting, name: 'new', value: { matching: { match: { moon: 'full', level: 'x' } } } });
  await create();
  assert.equal(silenced(), 2);
  assert.equal(keeper.list().length, 2);
});
