import { writeFileSync } from 'node:fs';
import { buildConformance, conformancePath, readConformance } from './conformance.mjs';
import { prepare } from './prepare.mjs';
import { listTests, runTests } from './run-tests.mjs';

/** Runs the conformance tests and writes docs/conformance.md from those that passed. */
await prepare();
const { code, tests } = await runTests(listTests(['test/conformance/']));
const { text, problems } = buildConformance(tests, readConformance());
if (code !== 0) problems.push('docs/conformance.md is left as it was, since a test failed');
else writeFileSync(conformancePath, text);
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
