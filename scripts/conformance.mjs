import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { root } from './install.mjs';

const tablePath = join(root, 'dist', 'conformance.md');

/** Ids of the API's details begin with D; a test names each of D1 up to this one. */
const details = 41;

const introduction = `# Conformance

Each row is a statement about the API and the test that checks it.

| id | statement | test |
|---|---|---|
`;

/** Writes the statements that tests have confirmed to dist/conformance.md; returns what is wrong with them, a line each. */
export const writeConformance = (tests) => {
  const statements = tests.flatMap(toStatement).sort((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));
  const rows = statements.map(({ id, text, file }) => `| ${id} | ${text} | [${basename(file)}](../${file}) |\n`);
  mkdirSync(dirname(tablePath), { recursive: true });
  writeFileSync(tablePath, `${introduction}${rows.join('')}`);
  const ids = statements.map(({ id }) => id);
  const named = new Set(ids.map((id) => id.replace(/[a-z]+$/, '')));
  const wanted = Array.from({ length: details }, (_, index) => `D${index + 1}`);
  return [
    ...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `two tests have the id ${id}`),
    ...wanted.filter((id) => !named.has(id)).map((id) => `no test has the id ${id}`),
  ];
};

const toStatement = ({ file, name, nesting, state }) => {
  const [, id, text] = /^([A-Z]\d+[a-z]*) (.+)$/s.exec(name) ?? [];
  const isConfirmed = nesting === 0 && (state === 'passed' || state === 'flaky');
  if (id === undefined || !isConfirmed || !file.startsWith('test/conformance/')) return [];
  return [{ id, text: text.replaceAll('|', '\\|'), file }];
};
