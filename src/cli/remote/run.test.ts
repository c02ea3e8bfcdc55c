import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toCommandName } from './run.ts';

test('a command is named after its program, and a shell after the program that it runs', () => {
  for (const [words, name] of [
    [['/usr/local/bin/backup', '--password', 'x'], 'backup'],
    [['sh'], 'sh'],
    [['sh', '-c', 'pg_dump shop | gzip > "$OUT"'], 'pg_dump shop'],
    [['/bin/bash', '-euc', '/opt/jobs/backup --all'], 'backup'],
    [['bash', '-e', '/opt/jobs/backup.sh', 'all'], 'backup.sh'],
    [['sh', '-c', 'one two three four'], 'one two three'],
    [['sh', '-c', '"quoted"'], 'sh'],
    [['sh', '-c'], 'sh'],
  ] as const) {
    assert.equal(toCommandName(words), name);
  }
});
