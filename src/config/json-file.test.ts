import assert from 'node:assert/strict';
import { test } from 'node:test';
import { locateJsonFault } from './json-file.ts';

const brokenString = 'a string without a closing quote, or with an invalid escape or control character';

test('a JSON error message has the line, the column and the expected text', () => {
  const faults: [string, string][] = [
    ['', 'line 1, column 1: expected a value'],
    ['hush', 'line 1, column 1: expected a value'],
    ['{"port": 0,', 'line 1, column 12: expected a name in double quotes'],
    ['{\n  "port": 1\n  "host": "x"\n}', 'line 3, column 3: expected "," or "}"'],
    ['{\r\n  "port": 01\r\n}', 'line 2, column 11: expected a value'],
    ['{"port" 1}', 'line 1, column 9: expected ":"'],
    ["{'port': 1}", 'line 1, column 2: expected a name in double quotes or "}"'],
    ['{"a": [1, 2,]}', 'line 1, column 13: expected a value'],
    ['{"a": [1 2]}', 'line 1, column 10: expected "," or "]"'],
    ['{"a": ["b}', `line 1, column 8: ${brokenString}`],
    ['{"a": "\\x"}', `line 1, column 7: ${brokenString}`],
    ['{"a": "\n"}', `line 1, column 7: ${brokenString}`],
    ['{"a\t": 1}', `line 1, column 2: ${brokenString}`],
    ['{"a" "\t"}', 'line 1, column 6: expected ":"'],
    ['{"a": nul}', 'line 1, column 7: expected a value'],
    ['{"a": [}]', 'line 1, column 8: expected a value or "]"'],
    ['{} // done', 'line 1, column 4: expected the end of the file'],
  ];
  for (const [text, place] of faults) assert.equal(locateJsonFault(text), `at ${place}`, text);
});

test('an incomplete JSON text is reported at its end, or where its last token begins', () => {
  const text = '{"a": [1, -2.5e+3, true, false, null, {}, [], "\\u00e9\\n\u007f\u2028😀", {"b": {"c": []}}], "d": ""';
  assert.equal(JSON.parse(`${text}}`)['d'], '');
  assert.equal(locateJsonFault(text), `at line 1, column ${text.length + 1}: expected "," or "}"`);
  const nested = '['.repeat(100_000);
  assert.equal(locateJsonFault(nested), 'at line 1, column 100001: expected a value or "]"');
  const long = `"${'x'.repeat(5_000_000)}`;
  assert.equal(locateJsonFault(long), `at line 1, column 1: ${brokenString}`);
});
