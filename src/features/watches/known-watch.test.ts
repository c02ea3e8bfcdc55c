import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { openTestSettings } from '../../../test/support/settings.ts';
import { SettingKeeper } from '../../kit/setting-keeper.ts';
import type { SettingStore } from '../../kit/setting-store.ts';
import { isLike } from '../../lib/wildcards.ts';
import { watchKind } from './kind.ts';
import { isCovered, listDefaultWatches } from './known-watch.ts';
import type { WatchSettings } from './schema.ts';

/** Returns a function that lists the machine's parts covered by configured watches. */
const createCovers =
  (settings: SettingStore) =>
  (watches: WatchSettings[], hasDefaults = false) => {
    const defaults = hasDefaults ? listDefaultWatches(true) : [];
    const known = new SettingKeeper(watchKind, { settings, configured: watches, defaults }).list();
    const all = ['cpu', 'memory', { mountPath: '/' }, { mountPath: '/var' }] as const;
    return all
      .filter((what) => isCovered(known, what))
      .map((what) => (typeof what === 'string' ? what : what.mountPath));
  };

test('the default watches cover disks and memory, and nothing if they are off', async (t) => {
  const covers = createCovers(await openTestSettings(t));
  assert.deepEqual([covers([], true), covers([])], [['memory', '/', '/var'], []]);
});

test('a watch covers its things while it is enabled', async (t) => {
  const covers = createCovers(await openTestSettings(t));
  const disk: WatchSettings = { name: 'own', type: 'disk', limit: 95 };
  assert.deepEqual(covers([disk]), ['/', '/var']);
  assert.deepEqual(covers([{ ...disk, metric: 'free' }]), ['/', '/var']);
  assert.deepEqual(covers([{ ...disk, metric: 'inodes' }]), []);
  assert.deepEqual(covers([{ ...disk, mounts: ['/v*'] }]), ['/var']);
  assert.deepEqual(covers([{ ...disk, enabled: false }]), []);
  assert.deepEqual(covers([{ name: 'busy', type: 'cpu', limit: 99 }]), ['cpu']);
  assert.deepEqual(covers([{ name: 'busy', type: 'load', limit: 2 }]), []);
});

test('a paused watch that replaces a default watch covers nothing', async (t) => {
  const covers = createCovers(await openTestSettings(t));
  const paused: WatchSettings[] = [
    { name: 'disk', type: 'disk', limit: 90, enabled: false },
    { name: 'memory', type: 'memory', limit: 90, enabled: false },
  ];
  assert.deepEqual(covers(paused, true), []);
});

test('a disk is covered exactly if an enabled watch of disk space has a matching pattern', async (t) => {
  const settings = await openTestSettings(t);
  const mount = fc.constantFrom('/', '/var', '/srv/a', '/srv/b');
  const pattern = fc.constantFrom('/', '/var', '/srv/*', '*', '/x');
  const watch = fc.record({
    metric: fc.constantFrom('used' as const, 'free' as const, 'inodes' as const),
    enabled: fc.boolean(),
    mounts: fc.option(fc.array(pattern, { minLength: 1, maxLength: 3 }), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(watch, { maxLength: 4 }), mount, (watches, mountPath) => {
      const configured = watches.map(({ mounts, ...rest }, index) => ({
        name: `w${index}`,
        type: 'disk' as const,
        limit: 90,
        ...rest,
        ...(mounts && { mounts }),
      }));
      const known = new SettingKeeper(watchKind, { settings, configured }).list();
      const expected = watches.some(
        ({ metric, enabled, mounts }) =>
          enabled && metric !== 'inodes' && (!mounts || mounts.some((each) => isLike(mountPath, each))),
      );
      assert.equal(isCovered(known, { mountPath }), expected);
    }),
  );
});
