import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseOutput } from './plugin.ts';

const read = (output: string) => {
  const { text, more, values } = parseOutput(output);
  return [text, more, values.map((value) => [value.words, 'figure' in value ? value.figure : undefined])];
};

test('the output of a plugin is split into text, further text and performance values', () => {
  assert.deepEqual(
    read("DISK OK - free|/=2643MB;5948;5958;0;5968 '/ it''s'=68%\n/ 15272 MB\n/boot 68 MB | /boot=68MB\n/home=1.5e"),
    [
      'DISK OK - free',
      '/ 15272 MB\n/boot 68 MB ',
      [
        ['/ is 2643MB', 2643],
        ["/ it's is 68%", 68],
        ['/boot is 68MB', 68],
        ['/home is 1.5e', 1.5],
      ],
    ],
  );
  assert.deepEqual(read('time=U;;|a=U b=-0.5s c= =3 d'), ['time=U;;', '', [['b is -0.5s', -0.5]]]);
  assert.deepEqual(read(''), ['', '', []]);
  const many = `x|${Array.from({ length: 100 }, (_, index) => `v${index}=1`).join(' ')}`;
  assert.equal(parseOutput(many).values.length, 20);
});
