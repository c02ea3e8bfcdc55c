import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cimClasses } from '../../src/profiles/commands/policy/cim-classes.ts';
import { findSection, readText, toRows } from './support/documents.ts';

const rows = toRows(findSection(readText('docs/commands.md'), 'What comes back'));

/** The parts of a text in code style. */
const listCode = (text = ''): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

test('docs/commands.md names the properties of each class, in order', () => {
  for (const [name, { properties }] of Object.entries(cimClasses)) {
    const [, text] = rows.find(([cell]) => cell === `\`${name}\``) ?? [];
    assert.deepEqual(listCode(text), [...properties], name);
  }
});
