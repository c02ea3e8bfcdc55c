import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toFlagName, toVariableName } from '../../src/config/names.ts';
import { isFlag, textForm } from '../../src/config/schema.ts';
import { settingsSchema } from '../support/app.ts';
import { readText, toRows } from './support/documents.ts';

interface Property {
  default?: unknown;
  enum?: string[];
  minimum?: number;
  maximum?: number;
}

const isSettingRow = (row: string[]): boolean => row.length === 6;
const rows = toRows(readText('docs/configuration.md')).filter(isSettingRow);
const settings = Object.entries(settingsSchema.properties);

const toCode = (text: unknown): string => `\`${text}\``;

const describeDefault = ({ default: value }: Property): string =>
  value === undefined || (Array.isArray(value) && value.length === 0) ? 'none' : toCode(value);

const describeValues = ({ enum: values, minimum, maximum }: Property): string | undefined => {
  if (values) return values.map(toCode).join(', ');
  if (minimum === undefined) return undefined;
  return maximum === undefined ? `${minimum} or more` : `${minimum} to ${maximum}`;
};

test('docs/configuration.md has exactly one row for every setting', () => {
  assert.deepEqual(rows.map(([key]) => key).sort(), settings.map(([key]) => toCode(key)).sort());
});

test('each row of docs/configuration.md names the flag, the variable and the default of its setting', () => {
  for (const [key, property] of settings) {
    const row = rows.find(([name]) => name === toCode(key)) ?? [];
    assert.deepEqual(
      [row[1], row[2], row[4]],
      [
        isFlag(property) ? toCode(`--${toFlagName(key)}`) : 'none',
        textForm(property) === 'none' ? 'none' : toCode(toVariableName(key)),
        describeDefault(property as Property),
      ],
      key,
    );
  }
});

test('each row of docs/configuration.md names the allowed values of an enum or a number', () => {
  for (const [key, property] of settings) {
    const values = describeValues(property as Property);
    const row = rows.find(([name]) => name === toCode(key)) ?? [];
    if (values !== undefined) assert.equal(row[3], values, key);
  }
});
