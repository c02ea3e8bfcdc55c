import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findSection, listFiles, readText, toRows } from './support/documents.ts';

const sources = listFiles('src')
  .filter((path) => !path.endsWith('.test.ts'))
  .map(readText);

/** The beginnings of messages that the table of log lines has. */
const documented = toRows(findSection(readText('docs/reference/operating.md'), 'Log')).flatMap(([, cell = '']) =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, message = '']) => message.replace(/ ?\.\.\..*$/, '')),
);

test('the table of log lines in docs/reference/operating.md has every message that the source logs', () => {
  const messages = sources.flatMap((source) =>
    [...source.matchAll(/log\.(?:debug|info|warn|error|fatal)\([^'`\n]*['`](\w[^'`$]*)/g)].map(
      ([, message = '']) => message,
    ),
  );
  assert.ok(messages.length >= 10, `${messages.length} messages`);
  const missing = messages.filter((message) => !documented.some((beginning) => message.startsWith(beginning)));
  assert.deepEqual(missing, []);
});

test('the table of log lines in docs/reference/operating.md has every event of the alert log', () => {
  const types = [...readText('src/storage/journal/options.ts').matchAll(/type: '([\w-]+)'/g)].map(([, type]) => type);
  assert.ok(types.length >= 6, `${types.length} events`);
  assert.deepEqual(
    types.filter((type) => !documented.includes(`alert log: ${type}`)),
    [],
  );
});
