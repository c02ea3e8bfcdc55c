import { writeConformance } from './conformance.mjs';
import { prepare } from './prepare.mjs';
import { listTests, runTests } from './run-tests.mjs';

/** Runs the conformance tests and writes dist/conformance.md. */
await prepare();
const { code, tests } = await runTests(listTests(['test/conformance/']));
const problems = writeConformance(tests);
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? code : 1;
