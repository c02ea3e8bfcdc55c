import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseOsName } from './os-release.ts';

const names: [string, string | null][] = [
  ['NAME=x\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\n', 'Debian GNU/Linux 12 (bookworm)'],
  ["PRETTY_NAME='Alpine Linux v3.20'", 'Alpine Linux v3.20'],
  ['PRETTY_NAME=Arch\r\n', 'Arch'],
  ['PRETTY_NAME="\\"Q\\" \\$1 \\\\"', '"Q" $1 \\'],
  ['PRETTY_NAME=""', null],
  ['NAME="Only a name"', null],
  ['', null],
];

for (const [content, name] of names) {
  test(`${JSON.stringify(content)} names ${JSON.stringify(name)}`, () => {
    assert.equal(parseOsName(content), name);
  });
}
