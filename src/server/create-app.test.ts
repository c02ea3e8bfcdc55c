import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { startApp } from '../../test/support/app.ts';
import { features } from '../features/index.ts';
import { defineFeature } from '../kit/feature.ts';

/** Creates a feature that records everything its functions receive. */
const createSpy = () => {
  const seen: { checked?: unknown; created?: unknown; records?: unknown } = {};
  const spy = defineFeature({
    name: 'spy',
    profiles: [{ name: 'spy', summary: 'sees its settings' }],
    settings: { alertsSync: Type.Boolean({ default: true }) },
    seed: { items: Type.Object({ name: Type.String() }) },
    findProblems: (settings) => {
      seen.checked = settings;
      return [];
    },
    create: ({ settings, records }) => {
      Object.assign(seen, { created: settings, records });
      return { profiles: { spy: [] } };
    },
  });
  return { spy, seen };
};

test('a feature receives only its own settings and seed records', async (t) => {
  const { spy, seen } = createSpy();
  await startApp(t, {
    settings: { profiles: ['spy', 'login'] },
    seed: { items: [{ name: 'x' }], tasks: [{ Title: 'y' }] },
    features: [...features, spy],
  });
  assert.deepEqual(seen, {
    checked: { alertsSync: true },
    created: { alertsSync: true },
    records: { items: [{ name: 'x' }] },
  });
});

test('a feature that asks about all features before they are created is an error', async (t) => {
  for (const ask of ['topics', 'listUnavailable', 'findConcerns'] as const) {
    const hasty = defineFeature({
      name: 'hasty',
      profiles: [{ name: 'hasty', summary: 'asks too early' }],
      settings: {},
      create: async (parts) => {
        await parts[ask]();
        return { profiles: { hasty: [] } };
      },
    });
    await assert.rejects(
      startApp(t, { settings: { profiles: ['hasty'] }, features: [hasty] }),
      /^Error: a feature reads the list of features before all features exist$/,
    );
  }
});
