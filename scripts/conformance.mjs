import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root } from './prepare.mjs';

/** Where the table is. */
export const conformancePath = join(root, 'docs', 'conformance.md');

/** The decisions of the contract that a test must name: D1 up to this one. */
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
  ['D', 'Decisions of the contract'],
];

const introduction = `# Conformance

Every statement that the service keeps, and the test that shows it: over a socket, or with the program as a process.
Each row was written by a run in which its test passed. \`npm run conformance\` runs the tests and rewrites this file;
\`npm test\` fails if the file differs from what ran. A test that fails or is skipped shows nothing; if it is skipped
only because this machine lacks something, as a PowerShell, the row of an earlier run stays.

The ids are the first word of the tests' names: the letter of a section and a number. D1 to D${decisions} are the decisions of
the service's contract, which say what it does where its specification is silent; the statements below spell them out.
They have nothing to do with the files \`0001\`, \`0002\` … of [decisions](decisions/README.md), which always have four
digits and say how this program is built.
`;

/**
 * Builds the table from the outcomes of tests: a row for each conformance test that passed, or was skipped and has a
 * row in the text of before. Returns the new text, and what is wrong with the statements, a line each.
 */
export const buildConformance = (tests, before) => {
  const statements = tests
    .flatMap(toStatement)
    .filter(({ outcome, row }) => outcome === 'passed' || (outcome === 'skipped' && before.includes(row)))
    .sort(byId);
  const text = [introduction, ...sections.flatMap((section) => createTable(section, statements))].join('\n');
  return { text, problems: findProblems(statements) };
};

export const readConformance = () => readFileSync(conformancePath, 'utf8');

const toStatement = ({ file, name, outcome }) => {
  const [, letter, number, part, text] = /^([A-Z])(\d+)([a-z]*) (.+)$/s.exec(name) ?? [];
  if (letter === undefined || !file.startsWith('test/conformance/')) return [];
  const id = `${letter}${number}${part}`;
  const row = `| ${id} | ${text.replaceAll('|', '\\|')} | [${basename(file)}](../${file}) |`;
  return [{ id, letter, number: Number(number), part, row, outcome }];
};

const byId = (a, b) => a.number - b.number || a.part.length - b.part.length || (a.part < b.part ? -1 : 1);

const createTable = ([letter, title], statements) => [
  `## ${title}`,
  '',
  '| id | statement | test |',
  '|---|---|---|',
  ...statements.filter((statement) => statement.letter === letter).map(({ row }) => row),
  '',
];

const findProblems = (statements) => {
  const ids = statements.map(({ id }) => id);
  const isNamed = (decision) => statements.some(({ letter, number }) => letter === 'D' && number === decision);
  return [
    ...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `two tests have the id ${id}`),
    ...statements
      .filter(({ letter }) => !sections.some(([known]) => known === letter))
      .map(({ id }) => `there is no section for the id ${id}`),
    ...Array.from({ length: decisions }, (_, index) => index + 1)
      .filter((decision) => !isNamed(decision))
      .map((decision) => `no test that passed names decision D${decision}`),
  ];
};
