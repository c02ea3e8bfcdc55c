import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { root } from './prepare.mjs';

/** Where the table is written. */
const conformancePath = join(root, 'dist', 'conformance.md');

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

Each row is a statement about the API and the test that checks it. Ids are the letter of a section and a number.
`;

/**
 * Builds the table from the outcomes of tests: a row for each conformance test that passed. Returns its text, and what is wrong
 * with the statements, a line each.
 */
export const buildConformance = (tests) => {
  const all = tests.flatMap(toStatement).sort(byId);
  const statements = all.filter(({ outcome }) => outcome === 'passed');
  const text = [introduction, ...sections.flatMap((section) => createTable(section, statements))].join('\n');
  return { text, problems: findProblems(all) };
};

/** Writes the table to dist/conformance.md; returns what is wrong with the statements. */
export const writeConformance = (tests) => {
  const { text, problems } = buildConformance(tests);
  mkdirSync(dirname(conformancePath), { recursive: true });
  writeFileSync(conformancePath, text);
  return problems;
};

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
      .map((detail) => `no test has the id D${detail}`),
  ];
};
