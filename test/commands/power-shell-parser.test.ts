import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCommandLine, Refusal } from '../../src/features/commands/language.ts';
import { checkCommand } from '../../src/features/commands/policy.ts';
import { amount } from '../support/long.ts';
import { powerShell } from '../support/power-shell.ts';
import { fc } from '../support/random.ts';
import { type PowerShellLine, parseWithPowerShell } from './support/power-shell-parser.ts';

const { skip } = powerShell;

/** Minimum number of allowed lines to compare. */
const lineCount = amount(2000, 100_000);

const maxCodePoint = 0x10ffff;

/** Parts of words and numbers, in PowerShell and in other scripts. */
const inWords = fc.constantFrom(
  ...'.:*?^~=+-/\\_%!0123456789abcdefklmnpstuxy\u00b2\u0660\uff11\u2160\u0301\u00e9\u4e00',
  ...['--', '::', '0x', '1kb', '1e3', '1..5', '-Name', 'if', '..\\', '1.50', '007', '2ul', '1d'],
);

/** Characters that have a meaning in PowerShell, or look like such characters. */
const special = fc.constantFrom(
  ...` '",;|&<>$(){}@#[]\x60`,
  ...'\u00a0\u0085\u1680\u2000\u2007\u200b\u202f\u205f\u3000\ufeff\u180e',
  ...'\u2010\u2011\u2012\u2013\u2014\u2015\u2212\uff0d\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f',
);

const codePoint = fc.integer({ min: 0, max: maxCodePoint }).map((code) => String.fromCodePoint(code));

/** Creates strings in which one in `oneOf` parts is special. */
const createText = (oneOf: number, others: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .array(fc.oneof({ weight: oneOf - 1, arbitrary: others }, { weight: 1, arbitrary: special }), { maxLength: 6 })
    .map((parts) => parts.join(''));

const text = createText(6, fc.oneof(inWords, codePoint));

const value = fc.oneof(
  text.map((each) => `'${each}'`),
  text.map((each) => `"${each}"`),
  createText(60, inWords),
);

const values = fc
  .tuple(fc.array(value, { minLength: 1, maxLength: 3 }), fc.constantFrom(',', ', ', ' , ', ' ,'))
  .map(([list, comma]) => list.join(comma));

/** Creates lines that begin with one of the strings and continue with lists of values. */
const begin = (starts: string[], rest: fc.Arbitrary<string> = values): fc.Arbitrary<string> =>
  fc.tuple(fc.constantFrom(...starts), fc.constantFrom(' ', '  '), rest).map((parts) => parts.join(''));

const lists = [
  'Get-Process',
  'Get-Process -Name',
  ...['', ' -name', ' -DisplayName'].map((name) => `Get-Service${name}`),
];

const line = fc.oneof(
  { weight: 15, arbitrary: begin(lists) },
  {
    weight: 3,
    arbitrary: begin(['Get-EventLog System -Newest 5 -Source', 'Get-EventLog -After 2026-01-02 system -Source']),
  },
  {
    weight: 3,
    arbitrary: begin(
      [
        'Get-CimInstance Win32_Process -Property Name,processid -Filter',
        'Get-CimInstance win32_process -KeyOnly -Filter',
      ],
      text.map((each) => `"Name = '${each}' AND ProcessId = 1"`),
    ),
  },
  begin(
    ['Get-Process -Id', 'Get-EventLog System -Index'],
    fc.array(inWords, { minLength: 1, maxLength: 3 }).map(String),
  ),
);

/** Returns a line in the form of `parseWithPowerShell`. Undefined for a line that is not allowed. */
const parseAllowed = (text: string): PowerShellLine | undefined => {
  if (checkCommand(text) instanceof Refusal) return undefined;
  const parsed = parseCommandLine(text);
  const parameters = parsed.parameters.flatMap(({ name, values }) => [
    ...(name === undefined ? [] : [name]),
    ...(values.length > 0 ? [values] : []),
  ]);
  return [parsed.name, ...parameters];
};

/** Compares the allowed lines and returns their number. */
const compare = async (lines: Iterable<string>): Promise<number> => {
  const ours = [...lines].flatMap((text) => {
    const parsed = parseAllowed(text);
    return parsed ? [{ text, parsed }] : [];
  });
  let index = 0;
  for await (const theirs of parseWithPowerShell(ours.map(({ text }) => text))) {
    const { text, parsed } = ours[index] ?? {};
    assert.deepEqual(theirs, parsed, JSON.stringify(text));
    index += 1;
  }
  assert.equal(index, ours.length);
  return index;
};

const codePoints = (): string[] => Array.from({ length: maxCodePoint + 1 }, (_, code) => String.fromCodePoint(code));

const toLine = (values: readonly string[]): string => `Get-Process -Name ${values.join()}`;

const chunk = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));

test('PowerShell reads every allowed line as one command of constants with the same values', { skip }, async (t) => {
  const lines = fc.sample(line, { numRuns: lineCount * 3 });
  const compared = await compare(lines);
  t.diagnostic(`${compared} lines compared`);
  assert.ok(compared > lineCount);
});

test('every code point that is allowed in quotes or in a word means the same to PowerShell', { skip }, async (t) => {
  for (const quote of ["'", '"', '']) {
    const enclose = (each: string): string => `${quote}${each}a${quote}`;
    const isAllowed = (each: string): boolean => parseAllowed(toLine([enclose(each)])) !== undefined;
    const allowed = chunk(codePoints(), 100).flatMap((each) =>
      isAllowed(each.join('')) ? each : each.filter(isAllowed),
    );
    // The first character of a word matters most, so each character begins a word.
    const values = chunk(allowed, quote ? 100 : 1).map((each) => enclose(each.join('')));
    const lines = chunk(values, 16).map(toLine);
    assert.equal(await compare(lines), lines.length);
    t.diagnostic(`${allowed.length} code points compared ${quote ? `inside ${quote}` : 'outside quotes'}`);
    assert.ok(allowed.length > 100_000);
  }
});
