import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createTable, fitText, toTable, toWidth } from './table.ts';

/** Calls the function as if this process wrote to a terminal with this many columns. */
const onTerminal = <T>(columns: number, run: () => T): T => {
  const { stdout } = process;
  const kept = { isTTY: stdout.isTTY, columns: stdout.columns };
  try {
    Object.assign(stdout, { isTTY: true, columns });
    return run();
  } finally {
    Object.assign(stdout, kept);
  }
};

const titles = ['TIME', 'SEVERITY', 'WHERE', 'ALERT'];
const options = { fixed: ['TIME', 'SEVERITY'], dropped: ['WHERE'] };
const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 90 }), fc.constant('日本語 🔥 \u001b[2J\n'), fc.lorem());
const row = fc.tuple(fc.constant('01-31 09:30:00'), fc.constantFrom('CRITICAL', 'INFO'), text, text);

test('every line of a table fits the terminal with any text from senders, also in later rows', () => {
  fc.assert(
    fc.property(fc.array(row), fc.array(row), fc.integer({ min: 40, max: 250 }), (first, later, columns) => {
      onTerminal(columns, () => {
        const table = createTable(titles, options);
        const lines = `${table(first)}${table(later)}${toTable(titles, first, options)}`;
        for (const line of lines.split('\n')) assert.ok(toWidth(line) <= columns, line);
        assert.equal(lines.split('\n').length, 2 * first.length + later.length + 3);
      });
    }),
  );
});

test('a narrow terminal shows complete times and leaves out less important columns', () => {
  const rows = [['2026-01-31 09:30:00', 'CRITICAL', 'backup web-1', 'The disk is 91 % full']];
  const show = (columns: number) => onTerminal(columns, () => toTable(titles, rows, options));
  assert.equal(
    show(80),
    'TIME                 SEVERITY  WHERE         ALERT\n2026-01-31 09:30:00  CRITICAL  backup web-1  The disk is 91 % full\n',
  );
  assert.match(show(60), /^2026-01-31 09:30:00 {2}CRITICAL {2}The disk is 91 % full$/m);
});

test('a text is cut only between visible characters', () => {
  for (const [given, columns, expected] of [
    ['plain', 5, 'plain'],
    ['plain', 4, 'pla…'],
    ['日本語', 6, '日本語'],
    ['日本語', 5, '日本…'],
    ['日本語', 4, '日…'],
    ['👩‍👩‍👧 family', 4, '👩‍👩‍👧 …'],
    ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
  ] as const) {
    assert.equal(fitText(given, columns), expected);
  }
});
