import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findSection, listFiles, readText, toRows } from './support/documents.ts';

const sources = listFiles('src')
  .filter((path) => !path.endsWith('.test.ts'))
  .map(readText);

interface Line {
  level: string;
  beginning: string;
}

/** Levels and beginnings of messages in the table of log lines. */
const lines = toRows(findSection(readText('docs/reference/operating.md'), 'Log')).flatMap(
  ([level = '', cell = '']): Line[] =>
    [...cell.matchAll(/(?:(\w+) )?`([^`]+)`/g)].map(([, own, message = '']) => ({
      level: own ?? level,
      beginning: message.replace(/ ?\.\.\..*$/, ''),
    })),
);
const documented = lines.map(({ beginning }) => beginning);

test('docs/reference/operating.md lists every message that the source logs, with its level', () => {
  const logged = sources.flatMap((source) =>
    [...source.matchAll(/log\.(debug|info|warn|error|fatal)\([^'`\n]*['`](\w[^'`$]*)/g)].map(
      ([, level = '', message = '']) => ({ level, message }),
    ),
  );
  assert.ok(logged.length >= 10, `${logged.length} messages`);
  const isListed = ({ level, message }: { level: string; message: string }): boolean =>
    lines.some((line) => line.level === level && message.startsWith(line.beginning));
  assert.deepEqual(
    logged.filter((message) => !isListed(message)),
    [],
  );
});

test('docs/reference/operating.md lists every event of the alert log', () => {
  const types = [...readText('src/storage/journal/options.ts').matchAll(/type: '([\w-]+)'/g)].map(([, type]) => type);
  assert.ok(types.length >= 6, `${types.length} events`);
  assert.deepEqual(
    types.filter((type) => !documented.includes(`alert log: ${type}`)),
    [],
  );
});
