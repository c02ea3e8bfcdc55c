import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import type { Scope } from '../../test/support/scope.ts';
import { openTestSettings } from '../../test/support/settings.ts';
import { needs } from '../auth/access.ts';
import { SettingKeeper, type SettingKeeperParts } from './setting-keeper.ts';
import { defineSettingKind, type SettingKind } from './setting-kind.ts';
import type { RuntimeSetting } from './setting-store.ts';

/** Stored form of a tune. `given` counts the requests that have changed it. */
interface Tune {
  bpm: number;
  given?: number;
}

interface KnownTune extends Tune {
  name: string;
  from: string;
}

type TuneKind = SettingKind<Tune, KnownTune, KnownTune>;

const tuneKind = defineSettingKind<Tune, KnownTune, KnownTune>({
  name: 'tune',
  noun: 'Tune',
  path: '/api/tunes',
  params: Type.Object({ tune: Type.String() }),
  shape: Type.Object({}),
  reading: needs('settings:read'),
  changing: needs('settings:write'),
  limits: { count: 3, plural: 'tunes', withConfigured: true },
  order: 'origin',
  compile: ({ name, value }: RuntimeSetting<Tune>) => {
    if (typeof value.bpm !== 'number' || value.bpm <= 0) throw new Error('bpm must be above 0');
    return { ...value, name, from: 'made' };
  },
  fromConfig: (tune) => ({ ...tune, from: 'config' }),
  toLabel: ({ bpm }) => `${bpm} bpm`,
});

const toTune = (name: string, from: string): KnownTune => ({ name, bpm: 60, from });

const createKeeper = async (
  t: Scope,
  changes: Partial<TuneKind> = {},
  parts: Omit<SettingKeeperParts<KnownTune, KnownTune>, 'settings'> = {},
) => {
  const settings = await openTestSettings(t);
  return { settings, keeper: new SettingKeeper({ ...tuneKind, ...changes }, { ...parts, settings }) };
};

const show = (keeper: SettingKeeper<Tune, KnownTune, KnownTune>): string[] =>
  keeper.list().map(({ name, from }) => `${name} ${from}`);

test('the config file overrides a runtime setting of the same name, which overrides a default', async (t) => {
  const defaults = [toTune('waltz', 'default'), toTune('polka', 'default')];
  const { keeper } = await createKeeper(t, {}, { defaults });
  await keeper.put('waltz', { bpm: 90 }, 'anna');
  await keeper.put('tango', { bpm: 120 }, 'anna');
  assert.deepEqual(show(keeper), ['waltz made', 'tango made', 'polka default']);
  let changes = 0;
  keeper.onChanged(() => {
    changes += 1;
  });
  keeper.configure([toTune('tango', 'file')]);
  assert.deepEqual(show(keeper), ['tango config', 'waltz made', 'polka default']);
  await assert.rejects(keeper.delete('tango', 'anna'), {
    status: 409,
    message: /^Tune tango is defined in the config file/,
  });
  await assert.rejects(keeper.replace('polka', { bpm: 1 }, 'anna'), { status: 409, message: /is a default/ });
  await assert.rejects(keeper.replace('rumba', { bpm: 1 }, 'anna'), { status: 404 });
  keeper.configure([]);
  assert.deepEqual(show(keeper), ['waltz made', 'tango made', 'polka default']);
  assert.equal(changes, 2);
});

test('an unusable setting is refused, and a stored setting that cannot be read is listed with its label', async (t) => {
  const { settings, keeper } = await createKeeper(t);
  await assert.rejects(keeper.put('waltz', { bpm: -1 }, 'anna'), { status: 400, message: 'bpm must be above 0' });
  assert.deepEqual(settings.list('tune'), []);
  await settings.put('tune', 'waltz', { bpm: 0 }, 'anna');
  assert.deepEqual(show(keeper), []);
  const broken = settings.listBroken().map(({ kind, name, reason, label }) => [kind, name, reason, label]);
  assert.deepEqual(broken, [['tune', 'waltz', 'bpm must be above 0', '0 bpm']]);
  await keeper.put('waltz', { bpm: 1 }, 'anna');
  assert.deepEqual([show(keeper), settings.listBroken()], [['waltz made'], []]);
});

test('the limit of a kind can include settings of the config file, also for concurrent requests', async (t) => {
  const { keeper } = await createKeeper(t, {}, { configured: [toTune('polka', 'file')] });
  const puts = ['a', 'b', 'c', 'd'].map((name) => keeper.put(name, { bpm: 60 }, 'anna'));
  const refused = (await Promise.allSettled(puts)).flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  assert.deepEqual(
    refused.map(({ message }) => message),
    Array(2).fill('There are already 2 tunes in addition to the config file, the maximum: delete some first'),
  );
});

test('a name is used only once, for some kinds regardless of case', async (t) => {
  const { keeper } = await createKeeper(t, { isCaseless: true });
  const created = await Promise.allSettled(
    ['waltz', 'waltz', 'Waltz'].map((one) => keeper.create(one, { bpm: 90 }, 'anna')),
  );
  assert.deepEqual(created.map(({ status }) => status).sort(), ['fulfilled', 'rejected', 'rejected']);
  const taken = { status: 409, message: 'There is already a tune waltz: choose another name' };
  await assert.rejects(keeper.create('WALTZ', { bpm: 90 }, 'anna'), taken);
});

test('each of several concurrent requests completes the latest version', async (t) => {
  const complete: TuneKind['complete'] = ({ bpm }, { known }) => ({ bpm, given: (known?.given ?? 0) + 1 });
  const { keeper } = await createKeeper(t, { complete });
  await Promise.all([1, 2, 3, 4, 5].map((bpm) => keeper.put('waltz', { bpm }, 'anna')));
  assert.equal(keeper.find('waltz')?.given, 5);
  const stale = { version: keeper.findStored('waltz')?.version, message: /^waltz was changed/ };
  await assert.rejects(keeper.put('waltz', { bpm: 6 }, 'anna', [1]), stale);
});
