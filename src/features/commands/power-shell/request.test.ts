import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../../test/support/random.ts';
import { Refusal } from '../language.ts';
import { checkCommand, type ParsedCommand } from '../policy.ts';
import { toShellRequest } from './request.ts';

const check = (line: string): ParsedCommand => {
  const command = checkCommand(line);
  return command instanceof Refusal ? assert.fail(command.message) : command;
};

/** Formats the parameters of a request as `-Name type[]: values`. */
const toTexts = ({ parameters }: { parameters: Record<string, unknown>[] }): string[] =>
  parameters.map(
    ({ name, type, many, values }) => `-${name} ${type}${many ? '[]' : ''}: ${(values as string[]).join(' ')}`,
  );

const read = (line: string): string[] => toTexts(JSON.parse(toShellRequest(check(line))));

test('values keep their types, and texts and dates begin with =', () => {
  assert.deepEqual(read('Get-Process'), []);
  assert.deepEqual(read('Get-Process -Id 1,4294967295'), ['-Id number[]: 1 4294967295']);
  assert.deepEqual(read('Get-Process 2026-11-21T11:15:35Z,*'), ['-Name text[]: =2026-11-21T11:15:35Z =*']);
  assert.deepEqual(read("Get-Service -DisplayName 'a b' -Exclude c -Include d"), [
    '-DisplayName text[]: =a b',
    '-Include text[]: =d',
    '-Exclude text[]: =c',
  ]);
  assert.deepEqual(read('Get-EventLog System -After 2026-11-21T11:15:35.5Z -Index 7 -EntryType error'), [
    '-LogName text: =System',
    '-Newest number: 50',
    '-After date: =2026-11-21T11:15:35.500Z',
    '-EntryType text[]: =Error',
    '-Index number[]: 7',
  ]);
});

test('backticks and brackets in a pattern are escaped', () => {
  assert.deepEqual(read("Get-Process 'a`*b?'"), ['-Name text[]: =a``*b?']);
  const command: ParsedCommand = { name: 'Get-Service', parameters: { Name: ['[a-z]'] } };
  assert.deepEqual(toTexts(JSON.parse(toShellRequest(command))), ['-Name text[]: =`[a-z`]']);
});

test('Get-CimInstance always names its properties, and its filter is in normal form', () => {
  assert.deepEqual(read('Get-CimInstance Win32_LogicalDisk -Property size,deviceid'), [
    '-ClassName text: =Win32_LogicalDisk',
    '-Property text[]: =DeviceID =Size',
  ]);
  assert.deepEqual(read('Get-CimInstance Win32_Service -KeyOnly'), [
    '-ClassName text: =Win32_Service',
    '-Property text[]: =Name',
  ]);
  assert.deepEqual(read(`Get-CimInstance Win32_OperatingSystem`)[1]?.split(' ').length, 18);
  const filter = `caption LIKE "O'Brien\\\\%"  and  OSType=36 AND Status = true`;
  assert.equal(
    read(`Get-CimInstance Win32_OperatingSystem -Property Status -Filter '${filter.replace("'", '_')}'`).at(-1),
    "-Filter text: =Caption LIKE 'O_Brien\\\\%' AND OSType = '36' AND Status = 'true'",
  );
});

test('a quote or backslash in a filter cannot end its text', () => {
  const value = "' OR Name = '\\";
  const command: ParsedCommand = {
    name: 'Get-CimInstance',
    parameters: { ClassName: 'Win32_Service', Filter: [{ property: 'Name', operator: '=', value }] },
  };
  const texts = toTexts(JSON.parse(toShellRequest(command)));
  assert.equal(texts.at(-1), "-Filter text: =Name = '\\' OR Name = \\'\\\\'");
});

test('a Get-EventLog request has the parameters of Get-WinEvent as a fallback', () => {
  const toFallback = (line: string): string[] => toTexts(JSON.parse(toShellRequest(check(line))).fallback);
  assert.deepEqual(toFallback('Get-EventLog System -Source a*,b -Index 1'), ['-LogName text: =System']);
  assert.deepEqual(
    toFallback(
      'Get-EventLog Application -Source b -EntryType Error,FailureAudit,SuccessAudit -After 2026-01-01Z -Before 2027-01-01Z'.replaceAll(
        '01Z',
        '01T00:00Z',
      ),
    ),
    [
      '-LogName text: =Application',
      '-StartTime date: =2026-01-01T00:00:00.000Z',
      '-EndTime date: =2027-01-01T00:00:00.000Z',
      '-Level number[]: 1 2 0 4',
      '-ProviderName text[]: =b',
    ],
  );
});

test('a request is one line of ASCII that contains any text unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const request = toShellRequest({ name: 'Get-Process', parameters: { Name: [text] } });
      assert.match(request, /^[ -~]+\n$/);
      const [value] = JSON.parse(request).parameters[0].values;
      assert.equal(value.replaceAll(/`([`[\]])/g, '$1'), `=${text}`);
    }),
  );
});
