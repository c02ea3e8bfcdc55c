import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import type { start as watch } from '../opponents/watchers.ts';
import { createBare } from './opponents.ts';
import { readMemory, startCompanion, startServer, startSignalbox, withScope } from './server.ts';

test('the built program, its opponent and a companion run as the rows start them', async () => {
  await withScope(tmpdir(), async (scope) => {
    const ours = await startSignalbox(scope, { reportsMemory: true });
    assert.ok((await readMemory(ours)).resident > 20);
    const bare = await startServer(scope, createBare('ok'));
    assert.equal(bare.firstBytes, 2);
    const { result } = await startCompanion<typeof watch>(scope, 'opponents/watchers', [bare.url, 2]);
    assert.equal(result, 2);
  });
});
