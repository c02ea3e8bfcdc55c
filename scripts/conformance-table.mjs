import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './prepare.mjs';

/** Writes docs/conformance.md from the names of the conformance tests; with --check only says whether it is true. */
const folder = 'test/conformance';
const target = join(root, 'docs', 'conformance.md');
const decisions = 32;

const sections = [
  ['G', 'Everywhere'],
  ['B', 'Request bodies'],
  ['T', 'Profile tasks (T)'],
  ['P', 'Profile protected-tasks'],
  ['L', 'Profile simple-tasks (L)'],
  ['I', 'Profile items (I)'],
  ['A', 'Profile login (A) and tokens'],
  ['M', 'Profile monitoring (M)'],
  ['X', 'Profiles alerts and commands (X)'],
  ['D', 'Decisions: what the specification leaves open'],
];

const readStatements = (file) =>
  [
    ...readFileSync(join(root, folder, file), 'utf8').matchAll(
      /\btest\(\s*(['"`])([A-Z])(\d+)([a-z]*) (.+?)\1,/gs,
    ),
  ].map(([, , letter, number, part, text]) => ({
    letter,
    number: Number(number),
    part,
    text: text.replaceAll("\\'", "'"),
    file,
  }));

const byId = (a, b) => a.number - b.number || a.part.length - b.part.length || (a.part < b.part ? -1 : 1);

const statements = readdirSync(join(root, folder))
  .filter((file) => file.endsWith('.test.ts'))
  .flatMap(readStatements)
  .sort(byId);

const createTable = ([letter, title]) => [
  `## ${title}`,
  '',
  '| id | statement | test |',
  '|---|---|---|',
  ...statements
    .filter((statement) => statement.letter === letter)
    .map(
      ({ number, part, text, file }) =>
        `| ${letter}${number}${part} | ${text.replaceAll('|', '\\|')} | [${file}](../${folder}/${file}) |`,
    ),
  '',
];

const text = [
  '# Conformance',
  '',
  'Every statement that the service keeps, and the test that shows it through the front door. The ids stand in the names of the tests.',
  'The table is written by `npm run conformance` from those names; `npm run check` fails where it is not true.',
  '',
  ...sections.flatMap(createTable),
].join('\n');

const ids = statements.map(({ letter, number, part }) => `${letter}${number}${part}`);
const problems = [
  ...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `the id ${id} is there twice`),
  ...statements
    .filter(({ letter }) => !sections.some(([known]) => known === letter))
    .map(({ letter }) => `there is no section ${letter}`),
  ...Array.from({ length: decisions }, (_, index) => index + 1)
    .filter(
      (number) => !statements.some((statement) => statement.letter === 'D' && statement.number === number),
    )
    .map((number) => `no test names decision D${number}`),
];

if (!process.argv.includes('--check')) writeFileSync(target, text);
else if (readFileSync(target, 'utf8') !== text)
  problems.push('docs/conformance.md is out of date: run npm run conformance');
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
