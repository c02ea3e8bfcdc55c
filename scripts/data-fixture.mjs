import { prepare } from './prepare.mjs';

/** Writes test/fixtures/data-VERSION, which later versions must be able to read: `node scripts/data-fixture.mjs 1.2.0`. */
const [version] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+$/.test(version ?? '')) throw new Error('name the version to be released');
await prepare();
const { makeFixture } = await import('../dist/test/upgrade/support/fixture.js');
const ends = [];
try {
  await makeFixture({ after: (end) => ends.push(end) }, version);
} finally {
  for (const end of ends) await end();
}
