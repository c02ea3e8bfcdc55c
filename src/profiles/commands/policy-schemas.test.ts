import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Value } from 'typebox/value';
import { createAnyText, writeCommandLine } from '../../../test/support/command-lines.ts';
import { amount } from '../../../test/support/long.ts';
import { fc } from '../../../test/support/random.ts';
import { cimClasses } from './cim-classes.ts';
import { Refusal } from './language.ts';
import {
  type CommandPolicy,
  checkCommand,
  commandNames,
  describeCommands,
  type ParameterPolicy,
  policies,
} from './policy.ts';
import { date, property } from './values.ts';

const commands = describeCommands();

/** Texts that quotes can enclose. */
const text = fc.oneof(
  createAnyText(6),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
  fc.constantFrom('', 'a*', '[a]', "it's", '"', `'"`, "'$", '\n', '\u2028', '\ud800'),
  fc.integer({ min: 126, max: 131 }).map((length) => '\u{1f600}'.repeat(length)),
);

const dateText = fc.oneof(
  text,
  fc.date({ noInvalidDate: true }).map((each) => each.toISOString()),
  fc.constantFrom('2024-01-31', '2024-01-31 10:00', '2024-01-31T10:00:59.5+02:00', '24-01-31', '2024-01-31T10'),
);

const createValue = ({ kind }: ParameterPolicy): fc.Arbitrary<unknown> => {
  if (!kind) return fc.constant(true);
  if (kind === date) return dateText;
  if (kind === property) {
    return fc.constantFrom('Name', 'State', 'Size', 'CommandLine', ...cimClasses.Win32_Process.properties);
  }
  const { minimum: min, maximum: max, enum: choices } = kind.schema as Record<string, number> & { enum?: string[] };
  if (choices) return fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...choices) }, text);
  if (min === undefined || max === undefined) return text;
  return fc.oneof(fc.integer({ min, max }), fc.constantFrom(min - 1, min, max, max + 1, 1.5, 1e21));
};

const createGiven = (policy: ParameterPolicy): fc.Arbitrary<unknown> => {
  const most = policy.maxValues;
  if (most === undefined) return createValue(policy);
  const value = createValue(policy);
  const few = fc.array(value, { minLength: 1, maxLength: 2 });
  const sizes = fc.constantFrom(most - 1, most, most + 1);
  return fc.oneof(
    few,
    fc.tuple(value, sizes).map(([each, size]) => Array<unknown>(size).fill(each)),
  );
};

/** Parameters by name, without filters: JSON Schema cannot express their grammar. */
const createParameters = (policy: CommandPolicy): fc.Arbitrary<object> => {
  const entries = Object.entries(policy.parameters).filter(([name]) => name !== 'Filter');
  const record = fc.record(Object.fromEntries(entries.map(([name, each]) => [name, createGiven(each)])), {
    requiredKeys: [],
  });
  return fc.oneof({ weight: 20, arbitrary: record }, fc.constantFrom({ ComputerName: 'x' }, { Nam: ['x'] }));
};

const isWritable = (parameters: object): boolean =>
  !Object.values(parameters)
    .flat()
    .some((value) => typeof value === 'string' && value.includes("'") && /["$`]/.test(value));

const isAllowed = (name: string, parameters: object): boolean =>
  isWritable(parameters) && !(checkCommand(writeCommandLine(name, parameters)) instanceof Refusal);

test('every command is described, in the order of the policy', () => {
  assert.deepEqual(
    commands.map(({ name }) => name),
    commandNames,
  );
  for (const { name, summary } of commands) assert.match(summary, /^[A-Z].*\.$/, name);
});

for (const { name, parameters: schema } of commands) {
  test(`the schema of ${name} accepts and refuses the same parameters as the policy check`, () => {
    const policy: CommandPolicy = policies[name as keyof typeof policies];
    const seen = new Set<boolean>();
    fc.assert(
      fc.property(createParameters(policy), (parameters) => {
        const allowed = isAllowed(name, parameters);
        seen.add(allowed);
        assert.equal(Value.Check(schema, parameters), allowed);
      }),
      { numRuns: amount(500, 3000) },
    );
    assert.deepEqual(seen, new Set([true, false]));
  });
}

test('the schema has the maximum length of a filter and the default of each parameter', () => {
  const { parameters: schema } = commands.find(({ name }) => name === 'Get-CimInstance') ?? {};
  for (const length of [1024, 1025]) {
    const parameters = { ClassName: 'Win32_Process', Filter: "Name = '\u{1f600}'".padEnd(length + 1) };
    assert.equal(isAllowed('Get-CimInstance', parameters), length === 1024);
    assert.equal(Value.Check(schema ?? {}, parameters), length === 1024);
  }
  const events = commands.find(({ name }) => name === 'Get-EventLog')?.parameters;
  assert.equal(Reflect.get(Object(events).properties.Newest, 'default'), 50);
});
