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
import { dateKind, propertyKind } from './value-kinds.ts';

const newest = { Newest: 50 };

test('allowed lines become commands with typed values', () => {
  const cases: [string, object][] = [
    ['Get-Process', {}],
    [' Get-Process ', {}],
    ['Get-Process ssh*', { Name: ['ssh*'] }],
    ["Get-Process -NAME 'a b','x?'", { Name: ['a b', 'x?'] }],
    ['Get-Process -Id 0,4294967295', { Id: [0, 4294967295] }],
    [`Get-Process '${'😀'.repeat(128)}'`, { Name: ['😀'.repeat(128)] }],
    ['Get-Service -DisplayName "*net*" -Exclude a,b', { DisplayName: ['*net*'], Exclude: ['a', 'b'] }],
    ['Get-EventLog application', { LogName: 'Application', ...newest }],
    ['Get-EventLog -Newest 1000 -LogName System', { LogName: 'System', Newest: 1000 }],
    ['Get-EventLog System -EntryType error,WARNING', { LogName: 'System', ...newest, EntryType: ['Error', 'Warning'] }],
    [
      'Get-EventLog System -After 2024-02-29T10:00Z',
      { LogName: 'System', ...newest, After: new Date('2024-02-29T10:00Z') },
    ],
    ['Get-CimInstance win32_process -KeyOnly', { ClassName: 'Win32_Process', KeyOnly: true }],
    ['Get-CimInstance Win32_Service -Property name,State', { ClassName: 'Win32_Service', Property: ['Name', 'State'] }],
    [
      'Get-CimInstance Win32_LogicalDisk -Filter "driveType=3"',
      { ClassName: 'Win32_LogicalDisk', Filter: [{ property: 'DriveType', operator: '=', value: '3' }] },
    ],
  ];
  for (const [line, parameters] of cases) {
    assert.deepEqual(checkCommand(line), { name: line.trim().split(' ')[0], parameters }, line);
  }
});

test('any other line is refused with a reason that names the fault', () => {
  const long = 'x'.repeat(129);
  const cases: [string, RegExp][] = [
    ['Remove-Item /', /^Command "Remove-Item" is not allowed; allowed are Get-Process, Get-Service/],
    ['get-process', /^Command "get-process" is not allowed/],
    ['Get-Process;id', /^Command "Get-Process;id"/],
    ["'Get-Process'", /^Command "'Get-Process'"/],
    ['constructor', /^Command "constructor"/],
    [`${'é'.repeat(41)}`, /^Command "é{40}…"/],
    [`${'é'.repeat(40)}`, /^Command "é{40}" is/],
    ['Get-Process | Stop-Process', /U\+007C/],
    ['Get-Process -ComputerName x', /^Parameter "-ComputerName" is not allowed$/],
    ['Get-Process -Nam x', /^Parameter "-Nam" is not allowed$/],
    ['Get-Process -Name:x', /^Parameter "-Name:x" is not allowed$/],
    ['Get-Process -', /^Parameter "-" is not allowed$/],
    ['Get-Process -Verbose', /^Parameter "-Verbose"/],
    ['Get-Process -__proto__ x', /^Parameter "-__proto__"/],
    ['Get-Process -Id -1', /^-Id needs a value$|^Parameter "-1" is not allowed$/],
    ['Get-Process a b', /^Unexpected value "b"$/],
    ['Get-Process a b,c', /^Unexpected value "b,c"$/],
    ['Get-Process a -Name b', /^-Name is given twice$/],
    ['Get-Process -id 1 -ID 2', /^-Id is given twice$/],
    ['Get-Process -Name', /^-Name needs a value$/],
    ['Get-Process -Name a -Id 1', /^-Name and -Id cannot be combined$/],
    ['Get-Service -Name a -DisplayName b', /^-Name and -DisplayName cannot be combined$/],
    ["Get-Process ''", /^-Name: a value must not be empty$/],
    [`Get-Process ${long}`, /^-Name: "x{40}…" is longer than 128 characters$/],
    [`Get-Process ${Array(17).fill('a').join(',')}`, /^-Name takes at most 16 values$/],
    ['Get-Process [a]', /^-Name: "\[a\]": only \* and \? are wildcards$/],
    ...['4294967296', '1.5', '0x1', '1e3', "' 1'", 'x'].map((id): [string, RegExp] => [
      `Get-Process -Id ${id}`,
      /^-Id: ".*" is not a whole number from 0 to 4294967295$/,
    ]),
    ['Get-EventLog', /^-LogName is required$/],
    ['Get-EventLog Security', /^-LogName: "Security" is not one of Application, System$/],
    ['Get-EventLog Application 5', /^Unexpected value "5"$/],
    ['Get-EventLog System -Newest 0', /from 1 to 1000$/],
    ['Get-EventLog System -Newest 1001', /from 1 to 1000$/],
    ['Get-EventLog System -Newest 1,2', /^-Newest takes at most 1 value$/],
    ['Get-EventLog System -After yesterday', /^-After: "yesterday" is not a date of the form yyyy/],
    ['Get-EventLog System -Message x', /^Parameter "-Message"/],
    ['Get-CimInstance', /^-ClassName is required$/],
    ['Get-CimInstance Win32_Product', /^-ClassName: "Win32_Product" is not one of Win32_Op/],
    ['Get-CimInstance Win32_Product -Property Name', /^-ClassName: "Win32_Product"/],
    ['Get-CimInstance -Property Name', /^-ClassName is required$/],
    ['Get-CimInstance Win32_Process -Property CommandLine', /^-Property: "CommandLine" is not one of/],
    ['Get-CimInstance Win32_Process -KeyOnly 1', /^-KeyOnly takes no value$/],
    ['Get-CimInstance Win32_Process -KeyOnly -Property Name', /^-Property and -KeyOnly cannot be combined$/],
    ["Get-CimInstance Win32_Process -Filter 'CommandLine=1'", /^-Filter: Filter names an unknown property/],
    [`Get-CimInstance Win32_Process -Filter '${'a'.repeat(1025)}'`, /is longer than 1024 characters$/],
    ['Get-CimInstance Win32_Process -Query x', /^Parameter "-Query"/],
  ];
  for (const [line, reason] of cases) {
    const checked = checkCommand(line);
    assert.ok(checked instanceof Refusal, line);
    assert.match(checked.message, reason, line);
  }
});

/** Strings to append to a command. Most of the results are refused. */
const rest = fc.array(
  fc.oneof(
    fc.constantFrom('-Name', '-Id 1', '-ID', 'System', 'win32_process', '-Filter', ',', '1', "'a'", '-KeyOnly'),
    fc.constantFrom('-Newest 20', '-EntryType error,WARNING', '-After 2024-02-29', '-Property name', '"it\'s"'),
    fc.constantFrom('-Filter "Name = \'a\\\\b\\"c\'"', `-Filter 'Name LIKE "a$%" and ProcessId=1'`),
    createAnyText(4),
  ),
  { maxLength: 4 },
);

const allowedLine = fc.tuple(fc.constantFrom(...commandNames), rest).map(([name, parts]) => [name, ...parts].join(' '));

test('the check accepts or refuses any text and never throws', () => {
  fc.assert(
    fc.property(fc.oneof(allowedLine, createAnyText(40)), (line) => {
      const checked = checkCommand(line);
      assert.ok(checked instanceof Refusal ? checked.message !== '' : line.includes(checked.name));
    }),
    { numRuns: amount(500, 10_000) },
  );
});

test('an allowed command that is written again from its values is allowed and parses to the same values', () => {
  let allowed = 0;
  fc.assert(
    fc.property(allowedLine, (line) => {
      const checked = checkCommand(line);
      if (checked instanceof Refusal) return;
      allowed += 1;
      assert.deepEqual(checkCommand(writeCommandLine(checked.name, checked.parameters)), checked);
    }),
    { numRuns: amount(500, 10_000) },
  );
  assert.ok(allowed > amount(20, 100), `${allowed} of the lines were allowed`);
});

const commands = describeCommands();

/** Strings that can be quoted. */
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
  if (kind === dateKind) return dateText;
  if (kind === propertyKind) {
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

/** Parameters by name. Leaves out filters, because JSON Schema cannot express their grammar. */
const createParameters = (policy: CommandPolicy): fc.Arbitrary<object> => {
  const entries = Object.entries(policy.parameters).filter(([name]) => name !== 'Filter');
  const required = entries.filter(([, each]) => each.required).map(([name]) => name);
  const createRecord = (names: readonly string[], requiredKeys: string[]): fc.Arbitrary<object> => {
    const chosen = entries.filter(([name]) => names.includes(name));
    return fc.record(Object.fromEntries(chosen.map(([name, each]) => [name, createGiven(each)])), { requiredKeys });
  };
  const names = entries.map(([name]) => name);
  return fc.oneof(
    { weight: 10, arbitrary: createRecord(names, []) },
    // With many parameters, at least one is nearly always wrong.
    { weight: 10, arbitrary: fc.constantFrom(...names).chain((name) => createRecord([...required, name], required)) },
    fc.constantFrom({ ComputerName: 'x' }, { Nam: ['x'] }),
  );
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
