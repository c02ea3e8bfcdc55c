import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAnyText, orRefusal, writeList } from '../../../test/support/command-lines.ts';
import { amount } from '../../../test/support/long.ts';
import { fc } from '../../../test/support/random.ts';
import { type CommandLine, findName, parseCommandLine, Refusal } from './language.ts';
import { checkCommand } from './policy.ts';

const special = /[;|&<>$(){}@#`'"]/;
const forbidden = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u;

/** Strings consisting mostly of characters with a meaning in PowerShell. */
const line = fc
  .array(
    fc.oneof(
      fc.constantFrom(' ', ',', "'", '"', '-', '-Name', 'a', '1', '*', '\\', '=', ':', '“', '–', '\u00a0'),
      fc.constantFrom(...';|&<>$(){}@#`%![]\n\r\t\0\u0085\u2028\u2029'),
      createAnyText(3),
    ),
    { maxLength: 20 },
  )
  .map((parts) => parts.join(''));

const commandLine = fc.oneof(
  line,
  line.map((rest) => `Get-Process ${rest}`),
);

const write = ({ name, parameters }: CommandLine): string =>
  [
    name,
    ...parameters.map(({ name, values }) => [...(name === undefined ? [] : [`-${name}`]), writeList(values)].join(' ')),
  ].join(' ');

const parse = (text: string) => orRefusal(() => parseCommandLine(text));

test('the parser throws only refusals, and an accepted line that is written again from its parts parses to the same parts', () => {
  fc.assert(
    fc.property(commandLine, (text) => {
      const parsed = parse(text);
      if (parsed instanceof Refusal) return assert.notEqual(parsed.message, '');
      assert.deepEqual(parseCommandLine(write(parsed)), parsed);
    }),
    { numRuns: amount(500, 20_000) },
  );
});

test('a special character outside quotes, or any control character, is never accepted', () => {
  fc.assert(
    fc.property(commandLine, (text) => {
      const parsed = parse(text);
      if (parsed instanceof Refusal) return;
      assert.doesNotMatch(text.replaceAll(/'[^']*'|"[^"$`]*"/g, ''), special);
      assert.doesNotMatch(text, forbidden);
      assert.doesNotMatch([parsed.name, ...parsed.parameters.map(({ name }) => name)].join(), special);
    }),
    { numRuns: amount(500, 20_000) },
  );
});

test('any value that quotes can enclose is parsed unchanged', () => {
  const value = fc.string({ unit: 'grapheme' }).filter((text) => !/\p{C}|\p{Zl}|\p{Zp}|['‘-‛“-„]/u.test(text));
  fc.assert(
    fc.property(fc.array(value, { minLength: 1 }), (values) => {
      const parsed = parseCommandLine(`Get-Process -Name ${writeList(values)}`);
      assert.deepEqual(parsed, { name: 'Get-Process', parameters: [{ name: 'Name', values }] });
    }),
  );
});

test('named, listed, positional and switch parameters are distinguished', () => {
  const cases: [string, CommandLine['parameters']][] = [
    ['X', []],
    ['  X  ', []],
    ['X a', [{ name: undefined, values: ['a'] }]],
    ['X 007', [{ name: undefined, values: ['007'] }]],
    [
      "X 0,'007',1234567890123456,1.2.3,1x",
      [{ name: undefined, values: ['0', '007', '1234567890123456', '1.2.3', '1x'] }],
    ],
    ['X a,b , c', [{ name: undefined, values: ['a', 'b', 'c'] }]],
    ['X -Id 1,2', [{ name: 'Id', values: ['1', '2'] }]],
    [
      'X -KeyOnly -Id 1',
      [
        { name: 'KeyOnly', values: [] },
        { name: 'Id', values: ['1'] },
      ],
    ],
    [
      'X -Id 1 a',
      [
        { name: 'Id', values: ['1'] },
        { name: undefined, values: ['a'] },
      ],
    ],
    [
      "X '-Name' '',\"it's | <you>\"",
      [
        { name: undefined, values: ['-Name'] },
        { name: undefined, values: ['', "it's | <you>"] },
      ],
    ],
  ];
  for (const [text, parameters] of cases) {
    assert.deepEqual(parseCommandLine(text), { name: 'X', parameters }, text);
  }
});

test('a line with any other syntax is refused by naming the part', () => {
  const cases: [string, RegExp][] = [
    ['', /line must begin with a command/],
    ['   ', /line must begin with a command/],
    [',', /line must begin with a command/],
    ["'X'", /line must begin with a command/],
    ...[...';|&<>$(){}@#`'].map((c): [string, RegExp] => [`X a${c}b`, /is not allowed outside quotes$/]),
    ['X a;b', /^Character ; \(U\+003B\)/],
    ...[...'‘’‚‛“”„'].flatMap((c): [string, RegExp][] => {
      const code = c.charCodeAt(0).toString(16).toUpperCase();
      const reason = new RegExp(
        `^Character ${c} \\(U\\+${code}\\) is not allowed: PowerShell treats this character as a plain quote$`,
      );
      return [`X ${c}a${c}`, `X 'a${c}b'`, `X "a${c}b"`].map((line) => [line, reason]);
    }),
    ...['1kb', '007', '0x', '0xFF', '0b1', '1e3', '1.50', '.5', '+5', '9l', '1ul', '1d', '99999999999999999'].flatMap(
      (n) =>
        [`X a,${n}`, `X ${n} ,a`, `X -Name a, ${n}, b`].map((line): [string, RegExp] => [
          line,
          new RegExp(`^"${n.replace(/[.+]/, '\\$&')}" in a list is a number in PowerShell: put the value in quotes$`),
        ]),
    ),
    ['X –Name a', /^Character – \(U\+2013\)/],
    ['X\u00a0a', /^Character U\+00A0 is not allowed outside quotes$/],
    ['X "$(id)"', /^Character \$ \(U\+0024\) is not allowed inside double quotes$/],
    ['X "a`nb"', /^Character ` \(U\+0060\) is not allowed inside double quotes$/],
    ['X\nY', /^Character U\+000A is not allowed$/],
    ['\nX', /^Character U\+000A is not allowed$/],
    ["X 'a\u2028b'", /^Character U\+2028 is not allowed$/],
    ['X \ud800', /^Character U\+D800 is not allowed$/],
    ["X 'a", /^A quote \('\) is not closed$/],
    ['X "a', /^A quote \("\) is not closed$/],
    ["X 'a''b'", /^Quotes must enclose a whole value: "b"$/],
    ["X -Name'a'", /^Quotes must enclose a whole value: "a"$/],
    ...['X ,a', 'X a,', 'X a,,b', 'X -Name ,a', 'X a, -Id 1'].map((c): [string, RegExp] => [
      c,
      /^A comma must separate two values: ","$/,
    ]),
  ];
  for (const [text, reason] of cases) {
    const parsed = parse(text);
    assert.ok(parsed instanceof Refusal, text);
    assert.match(parsed.message, reason, text);
  }
});

test('a name is found in any case, but not by look-alike letters', () => {
  assert.equal(findName(['KeyOnly', 'Name'], 'keyONLY'), 'KeyOnly');
  for (const text of ['', 'Key', '\u212aeyOnly', 'ke\u00ffonly']) assert.equal(findName(['KeyOnly'], text), undefined);
});

test('a Kelvin sign, whose lower case is k, is not accepted as k in parameters, values and filters', () => {
  for (const rest of [
    'Win32_Process -\u212aeyOnly',
    'Win32_LogicalDis\u212a',
    'Win32_OperatingSystem -Filter "LocalDateTime LI\u212aE \'2%\'"',
    'Win32_Process -Property \u212aernelModeTime',
  ]) {
    assert.ok(checkCommand(`Get-CimInstance ${rest}`) instanceof Refusal, rest);
  }
});
