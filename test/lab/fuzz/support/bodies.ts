import fc from 'fast-check';
import { toBytes } from './request.ts';
import { anyValue } from './values.ts';

/** Body of 1 MiB and one byte: more than a server accepts. */
const tooLarge = `"${'x'.repeat(1024 * 1024 - 1)}"`;

const brokenTexts = [
  ...['', ' ', '\n', 'null', 'true', '0', '""', '[]', '[{}]', '{', '}', '{}}', '{} {}', '{"a":1,}', "{'a':1}"],
  ...['{"Title":1e999}', '{"Title":-0}', `{"Title":${'9'.repeat(400)}}`, '{"Title":NaN}', '{"Title":0x10}'],
  ...['{"Title":"a","Title":"b"}', '{"title":"a","title":null}', '{"name":"a","name":""}', '{"":1}'],
  ...['{"__proto__":{"Title":"x"}}', '{"constructor":{"prototype":{"x":1}}}', '{"constructor":1,"Title":"x"}'],
  ...['{"Title":"\\ud800"}', '{"title":"\\udfff\\ud800"}', '{"name":"\\u0000"}', '{"Title":"a\0b"}', '{"a":"\t"}'],
  ...[`${'['.repeat(20_000)}${']'.repeat(20_000)}`, `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`],
  ...[`{"Title":${'[{"a":'.repeat(5000)}`, '{"Title":"x"}//', '/**/{}', '\ufeff{"Title":"x"}'],
  '\ufeff\ufeff{}',
  ...['Title=x&Description=y', '<a/>', '--x\r\nContent-Disposition: form-data; name="Title"\r\n\r\nx\r\n--x--'],
];

const brokenBytes = [
  Buffer.from('{"Title":"x"}', 'utf16le').toString('latin1'),
  ...['{"Title":"\xff"}', '{"Title":"\xc0\xaf"}', '{"Title":"\xed\xa0\x80"}', '{"Title":"\xf4\x90\x80\x80"}'],
  ...['\xff\xfe{}', '\x1f\x8b\x08\x00', '\0', '{"name":"\xe2\x82'],
];

/** Creates values as JSON bytes, with varied spacing and sometimes with all non-ASCII escaped. */
export const toJsonText = (value: fc.Arbitrary<unknown>): fc.Arbitrary<string> =>
  fc.tuple(value, fc.constantFrom(undefined, undefined, 1, '\t'), fc.boolean()).map(([content, space, escapes]) => {
    const json = JSON.stringify(content, undefined, space) ?? 'null';
    return escapes ? escapeAll(json) : toBytes(json);
  });

/** Creates bytes that a route is unlikely to expect from a value that the route may expect. */
export const createBrokenBody = (value: fc.Arbitrary<unknown>): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 30, arbitrary: fc.constantFrom(...brokenTexts.map(toBytes), ...brokenBytes) },
    { weight: 30, arbitrary: fc.tuple(toJsonText(value), fc.nat(), fc.nat(255)).map(corrupt) },
    { weight: 20, arbitrary: toJsonText(anyValue) },
    {
      weight: 10,
      arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    },
    { weight: 1, arbitrary: fc.constantFrom(tooLarge, `{"Title":${tooLarge}}`) },
  );

/** Cuts the text at the position given by `at`, or replaces a byte there. */
const corrupt = ([json, at, byte]: [string, number, number]): string => {
  const place = at % (json.length + 1);
  const rest = byte % 2 === 0 ? '' : String.fromCharCode(byte) + json.slice(place + 1);
  return json.slice(0, place) + rest;
};

const escapeAll = (json: string): string =>
  json.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
