import assert from 'node:assert/strict';
import { test } from 'node:test';
import { features } from '../../src/profiles/index.ts';
import { startApp } from '../support/app.ts';
import { listServedRoutes, profileNames, readOperations, toRouteName } from './support/api.ts';
import { findSection, readText, toRows, toSections } from './support/documents.ts';

const api = readText('docs/api.md');

/** Titles of the parts of a profile's section that are about one route. */
const listDescribed = (profile: string): string[] =>
  toSections(findSection(api, profile), 3)
    .slice(1)
    .map(({ title }) => title);

test('docs/api.md has a heading for every profile', () => {
  const titles = toSections(api, 2).map(({ title }) => title);
  assert.deepEqual(titles.filter((title) => profileNames.includes(title)).sort(), [...profileNames].sort());
});

test('the table of each profile in docs/api.md has its routes, who may call them and what they do', async (t) => {
  for (const profile of profileNames) {
    const routes = listServedRoutes(await startApp(t, { settings: { profiles: [profile] } }));
    const expected = routes.map((route) => [`\`${toRouteName(route)}\``, route.access, route.summary]);
    const [overview] = toSections(findSection(api, profile), 3);
    assert.deepEqual(toRows(overview?.text ?? '').sort(), expected.sort(), profile);
  }
});

test('each route is described in docs/api.md, by its profile or one of the same feature, and no other is', async (t) => {
  for (const { profiles } of features) {
    const names = profiles.map(({ name }) => name);
    const described = names.flatMap(listDescribed);
    for (const name of names) {
      const routes = listServedRoutes(await startApp(t, { settings: { profiles: [name] } })).map(toRouteName);
      assert.deepEqual(
        routes.filter((route) => !described.includes(route)),
        [],
        name,
      );
      assert.deepEqual(
        listDescribed(name).filter((title) => !routes.includes(title)),
        [],
        name,
      );
    }
  }
});

test('the OpenAPI document has the routes of the mounts and itself, and no other', async (t) => {
  for (const profiles of [undefined, ['L'], ['T', 'M', 'A'], ['X', 'protected-tasks']]) {
    const app = await startApp(t, { settings: { profiles } });
    const expected = [...listServedRoutes(app).map(toRouteName), 'GET /openapi.json'];
    assert.deepEqual(Object.keys(await readOperations(app)).sort(), expected.sort());
  }
});
