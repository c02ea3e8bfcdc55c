import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root } from './prepare.mjs';

/** Where the table is. */
export const conformancePath = join(root, 'docs', 'conformance.md');

/** The details that a test must name: D1 up to this one. */
const details = 32;

const sections = [
  ['G', 'Everywhere'],
  ['B', 'Request bodies'],
  ['T', 'Profile tasks'],
  ['P', 'Profile protected-tasks'],
  ['L', 'Profile simple-tasks'],
  ['I', 'Profile items'],
  ['A', 'Profile login and tokens'],
  ['M', 'Profile monitoring'],
  ['X', 'Profiles alerts and commands'],
  ['D', 'Details'],
];

const introduction = `# Conformance

Ids are the letter of a section and a number, such as D14. A number of four digits, such as 0014, is a page of
[decisions](decisions/README.md), which is unrelated.

Each row is a statement about the API and the test that checks it. \`npm run conformance\` runs the tests and writes this
file from those that passed. A test that is skipped, for example because PowerShell is missing, keeps its row from an
earlier run. \`npm test\` fails if this file differs from the tests that ran.
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
  `## ${letter}: ${title}`,
  '',
  '| id | statement | test |',
  '|---|---|---|',
  ...statements.filter((statement) => statement.letter === letter).map(({ row }) => row),
  '',
];

const findProblems = (statements) => {
  const ids = statements.map(({ id }) => id);
  const isNamed = (detail) => statements.some(({ letter, number }) => letter === 'D' && number === detail);
  return [
    ...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `two tests have the id ${id}`),
    ...statements
      .filter(({ letter }) => !sections.some(([known]) => known === letter))
      .map(({ id }) => `there is no section for the id ${id}`),
    ...Array.from({ length: details }, (_, index) => index + 1)
      .filter((detail) => !isNamed(detail))
      .map((detail) => `no test that passed has the id D${detail}`),
  ];
};
