import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../../src/app/package-info.ts';

interface Outcome {
  file: string;
  name: string;
  outcome: 'passed' | 'skipped' | 'failed';
}

interface Conformance {
  buildConformance(tests: Outcome[]): { text: string; problems: string[] };
}

const script = join(packageRoot, 'scripts', 'conformance.mjs');
const { buildConformance }: Conformance = await import(pathToFileURL(script).href);

const file = 'test/conformance/x.test.ts';
const details = Array.from({ length: 32 }, (_, index) => ({
  file,
  name: `D${index + 1} holds`,
  outcome: 'passed' as const,
}));

test('the conformance table has a row for each test that passed, in order of the ids', () => {
  const tests = ['G10 ten', 'G2b b', 'G2 two | half', 'G2a a'].map((name) => ({
    file,
    name,
    outcome: 'passed' as const,
  }));
  const { text, problems } = buildConformance([...details, ...tests]);
  assert.deepEqual(problems, []);
  const rows = [...text.matchAll(/^\| (G\S*) \| (.*) \| \[x\.test\.ts\]\(\.\.\/test/gm)];
  assert.deepEqual(
    rows.map(([, id, statement]) => `${id} ${statement}`),
    ['G2 two \\| half', 'G2a a', 'G2b b', 'G10 ten'],
  );
});

test('a test that failed, was skipped or is not a conformance test has no row', () => {
  const others: Outcome[] = [
    { file, name: 'G1 failed', outcome: 'failed' },
    { file, name: 'G2 skipped', outcome: 'skipped' },
    { file: 'src/x.test.ts', name: 'G3 elsewhere', outcome: 'passed' },
    { file, name: 'without an id', outcome: 'passed' },
  ];
  const { text } = buildConformance([...details, ...others]);
  assert.doesNotMatch(text, /failed|skipped \||elsewhere|without an id/);
});

test('a repeated id, an unknown section and a detail without a test are reported', () => {
  const tests: Outcome[] = [
    { file, name: 'D2 again', outcome: 'passed' },
    { file, name: 'Z1 unknown', outcome: 'passed' },
  ];
  const { problems } = buildConformance([...details.slice(1), ...tests]);
  assert.deepEqual(problems, [
    'two tests have the id D2',
    'there is no section for the id Z1',
    'no test has the id D1',
  ]);
});
