import { makeFixture } from './fixture.ts';

/** Writes test/fixtures/data-VERSION. Later versions must be able to read it. */
const version = process.argv[2] ?? '';
if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error('name the version to be released');
const steps: (() => unknown)[] = [];
try {
  await makeFixture({ after: (step) => void steps.push(step) }, version);
} finally {
  for (const step of steps.reverse()) await step();
}
