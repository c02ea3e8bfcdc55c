import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cimClasses } from '../../src/profiles/commands/cim-classes.ts';
import { policies } from '../../src/profiles/commands/policy.ts';
import { findSection, readText, toRows } from './support/documents.ts';

const rows = toRows(findSection(readText('docs/api.md'), 'commands'));

/** What stands in code style in a text. */
const listCode = (text = ''): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

test('docs/api.md names the allowed commands with their parameters', () => {
  const documented = rows.filter((row) => row.length === 3 && row[0]?.startsWith('`Get-'));
  assert.deepEqual(
    documented.map(([command]) => command),
    Object.keys(policies).map((name) => `\`${name}\``),
  );
  for (const [index, [name, { first, parameters }]] of Object.entries(policies).entries()) {
    const [, firstOf, parametersOf] = documented[index] ?? [];
    assert.equal(firstOf, `\`${first}\``);
    const named = listCode(parametersOf).filter((code) => Object.hasOwn(parameters, code));
    assert.deepEqual([...new Set(named)], Object.keys(parameters), name);
  }
});

test('docs/api.md names the properties of each class, in order', () => {
  for (const [name, { properties }] of Object.entries(cimClasses)) {
    const [, text] = rows.find(([cell]) => cell === `\`${name}\``) ?? [];
    assert.deepEqual(listCode(text), [...properties], name);
  }
});
