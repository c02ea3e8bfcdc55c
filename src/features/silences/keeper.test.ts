import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RuntimeSetting, SettingStore } from '../../kit/setting-store.ts';
import { SilenceKeeper } from './keeper.ts';
import type { StoredSilence } from './stored.ts';

const day = 24 * 60 * 60 * 1000;

/** Creates a keeper with settings in memory and a clock that the test controls. */
const createKeeper = () => {
  let now = Date.parse('2026-03-28T12:00:00Z');
  let version = 0;
  const kept = new Map<string, RuntimeSetting>();
  let onChanged = (): void => undefined;
  const settings: SettingStore = {
    list: <T>() => [...kept.values()] as RuntimeSetting<T>[],
    find: () => undefined,
    put: async (_kind, name, value, by) => {
      version += 1;
      const setting = { name, value, version, by, at: now, createdAt: now };
      kept.set(name, setting);
      onChanged();
      return setting;
    },
    delete: async (_kind, name) => {
      const isDeleted = kept.delete(name);
      onChanged();
      return isDeleted;
    },
    noteBroken: () => undefined,
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
          matching: { match: { source: 'a' } },
          startsAt: now,
          endsAt: now + day,
          comment: '',
          createdBy: 'anna',
          ...changes,
        },
        'anna',
      ),
    silenced: () =>
      keeper.silencesOf({ source: 'a', hostname: '', level: 'ERROR', text: '', labels: null }, now).length,
  };
};

test('at most 1,000 silences recur, and silences beyond that limit can still be ended', async () => {
  const { keeper, kept, now, create } = createKeeper();
  const weekly = { recurring: { schedule: '0 2 * * 6', timeZone: 'UTC', minutes: 60 }, endsAt: null };
  const { setting } = await create(weekly);
  const atOnce = await Promise.allSettled(Array.from({ length: 1020 }, () => create(weekly)));
  assert.equal(atOnce.filter(({ status }) => status === 'fulfilled').length, 999);
  await assert.rejects(create(weekly), { status: 409, message: /1000 silences with a schedule/ });
  await create();
  const [first] = keeper.list();
  kept.set('more', { ...setting, name: 'more' });
  if (first) await keeper.expire(first, 'anna');
  assert.equal(keeper.find(first?.setting.name ?? '')?.windows.findAt(now()), undefined);
});

test('a silence is refused while comparing an alert with all silences would take too long', async () => {
  const { keeper, create, silenced } = createKeeper();
  const matching = (value: string, name = 'source') => ({
    matching: { matchers: [{ name, value, isRegex: true, isEqual: true }] },
  });
  const costly = '[ab]*a[ab]{90}c|a';
  const first = await create(matching(costly));
  const created = await Promise.allSettled(Array.from({ length: 30 }, () => create(matching(costly))));
  const count = 1 + created.filter(({ status }) => status === 'fulfilled').length;
  assert.ok(count > 5 && count < 20, `${count}`);
  assert.equal(silenced(), count);
  await assert.rejects(create(matching(costly)), { status: 409, message: /too long: match a source, host name/ });
  // There is room for a silence that replaces one of equal cost.
  await keeper.replace(first.setting.name, { ...first.setting.value, ...matching(costly) }, 'anna');
  const exact = [{ name: 'alertname', value: 'a', isRegex: false, isEqual: true }];
  await create({ matching: { matchers: exact } });
  await create(matching('a|b.*'));
  await keeper.expire(first, 'anna');
  await create(matching(costly));
  assert.equal(silenced(), count + 2);
});

test('of expressions behind exact matchers for one label, only the most expensive value counts', async () => {
  const { create } = createKeeper();
  const behind = (name: string, value: string) => ({
    matching: {
      matchers: [
        { name, value, isRegex: false, isEqual: true },
        { name: 'text', value: '[ab]*a[ab]{90}c', isRegex: true, isEqual: true },
      ],
    },
  });
  for (let count = 0; count < 100; count += 1) await create(behind('team', `team-${count}`));
  const others = Array.from({ length: 30 }, (_, index) => create(behind(`label-${index}`, 'x')));
  assert.ok((await Promise.allSettled(others)).some(({ status }) => status === 'rejected'));
});

test('stored silences that cost too much have no effect and give the reason', async () => {
  const { kept, keeper, create, silenced } = createKeeper();
  const { setting } = await create();
  for (let count = 0; count < 200; count += 1) {
    const negated = { name: 'text', value: `[ab]*a[ab]{90}c${count}`, isRegex: true, isEqual: false };
    const exact = { name: 'source', value: 'a', isRegex: false, isEqual: true };
    const value = { ...setting.value, matching: { matchers: [exact, ...Array(count % 2 ? 49 : 1).fill(negated)] } };
    kept.set(`old-${count}`, { ...setting, name: `old-${count}`, value });
  }
  await create();
  const begin = process.cpuUsage();
  assert.ok(silenced() < 20);
  assert.ok(process.cpuUsage(begin).user < 1_000_000);
  assert.match(keeper.find('old-1')?.problem ?? '', /too large/);
  assert.match(keeper.find('old-198')?.problem ?? '', /too long/);
  const old = keeper.find('old-198');
  if (old) await keeper.expire(old, 'anna');
  assert.equal(keeper.countBroken(), 202 - silenced() - 1);
});

test('only silences that expired 30 days ago are removed', async () => {
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

test('overlapping silences hold until the last silence ends, even if the clock is set back', async () => {
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

test('a silence that cannot be read stays listed without effect, can be ended, and does not affect others', async () => {
  const { kept, keeper, create, silenced } = createKeeper();
  const { setting } = await create();
  kept.set('new', {
    ...setting,
    name: 'new',
    value: { ...setting.value, matching: { match: { moon: 'full', level: 'x' } } },
  });
  for (const [index, value] of [7, {}, { matching: {} }, { ...setting.value, matching: { match: 7 } }].entries())
    kept.set(`odd-${index}`, { ...setting, name: `odd-${index}`, value });
  await create();
  const planned = {
    ...setting.value,
    recurring: { schedule: '2020-01-01', timeZone: 'Mars', minutes: 1 },
    endsAt: null,
  };
  kept.set('planned', { ...setting, name: 'planned', value: planned });
  await create();
  assert.equal(silenced(), 3);
  assert.equal(keeper.list().length, 9);
  assert.match(keeper.find('odd-1')?.problem ?? '', /cannot read/);
  assert.match(keeper.find('new')?.problem ?? '', /must match one of/);
  const broken = keeper.find('planned');
  assert.match(broken?.problem ?? '', /timeZone must be/);
  assert.equal(keeper.countBroken(), 6);
  if (broken) await keeper.expire(broken, 'anna');
  assert.equal(keeper.countBroken(), 5);
});
