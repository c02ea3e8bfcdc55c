import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';

interface Page {
  total: number;
  count: number;
  data: { Id: number }[];
}

/** Follows the links page by page and returns all ids. */
const follow = async (app: TestApp, start: string): Promise<number[][]> => {
  const pages: number[][] = [];
  for (let path: string | undefined = start; path !== undefined; ) {
    const { headers, json }: { headers: Record<string, unknown>; json: Page } = await app.request<Page>('GET', path);
    assert.equal(headers['x-total-count'], `${json.total}`);
    assert.equal(json.count, json.data.length);
    pages.push(json.data.map(({ Id }) => Id));
    const next: string | undefined = /<([^>]*)>; rel="next"/.exec(String(headers['link']))?.[1];
    path = next && new URL(next, `http://host${path}`).href.slice('http://host'.length);
  }
  return pages;
};

test('the links of a list lead to all its tasks once, in order, also if tasks are deleted meanwhile', async (t) => {
  const seed = Array.from({ length: 2500 }, (_, index) => ({
    Title: `${index}`,
    Status: (['Pending', 'Completed'] as const)[index % 2],
  }));
  const app = await startApp(t, { seed: { tasks: seed } });
  for (const id of [1, 7, 50, 51, 1024, 2500]) await app.request('DELETE', `/api/tasks/${id}`);
  const ids = Array.from({ length: 2500 }, (_, index) => index + 1);
  const left = ids.filter((id) => ![1, 7, 50, 51, 1024, 2500].includes(id));
  for (const limit of [999, 1000, 1001, 2493, 2494, 5000]) {
    const pages = await follow(app, `/api/tasks?limit=${limit}`);
    assert.deepEqual(pages.flat(), left);
    assert.equal(pages.length, Math.ceil(left.length / limit));
  }
  for (const limit of [100, 1001]) {
    const completed = await follow(app, `/api/tasks?status=Completed&limit=${limit}`);
    assert.deepEqual(
      completed.flat(),
      left.filter((id) => id % 2 === 0),
    );
  }
  assert.deepEqual(await follow(app, '/api/tasks?limit=0'), [[]]);
  assert.deepEqual(await follow(app, '/api/tasks?after=2600'), [[]]);
});

test('the links of a list of large tasks lead to all tasks', async (t) => {
  const lengths = [10, 1_000_000, 10, 600_000, 600_000, 10];
  const tasks = lengths.map((length) => ({ Title: 'a', Description: 'd'.repeat(length) }));
  const app = await startApp(t, { seed: { tasks } });
  for (const limit of [1, 2, 4, 5, 6, 7]) {
    const pages = await follow(app, `/api/tasks?limit=${limit}`);
    assert.deepEqual(pages.flat(), [1, 2, 3, 4, 5, 6]);
    assert.equal(pages.length, Math.ceil(6 / limit));
  }
});
