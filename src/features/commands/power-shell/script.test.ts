import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cimClasses } from '../cim-classes.ts';
import { policies } from '../policy.ts';
import { script } from './script.ts';

const toList = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(', ');

test('the script is ASCII without double quotes and fits into a Windows command line', () => {
  assert.match(script, /^[\n -~]+$/);
  assert.ok(!script.includes('"'));
  assert.ok(script.length < 32_767 - 1000);
});

test('the script contains exactly the commands, parameters and properties of the policy', () => {
  for (const [name, { parameters }] of Object.entries(policies)) {
    assert.ok(script.includes(`\n  '${name}' = @(${toList(Object.keys(parameters))})\n`), name);
  }
  for (const [name, { properties }] of Object.entries(cimClasses)) {
    assert.ok(script.includes(`\n  '${name}' = @(${toList(properties)})\n`), name);
  }
});

test('the script runs no text as code, starts no program and reads no command line', () => {
  const dangers = /Invoke-Expression|\biex\b|ScriptBlock|Start-Process|Add-Type|CommandLine|Import-Module/i;
  assert.doesNotMatch(script, dangers);
  assert.deepEqual(script.match(/& \S+/g), ['& $cmdlet']);
});
