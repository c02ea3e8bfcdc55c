import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { writeProgram } from '../../../../../test/support/child-programs.ts';
import { type Entry, needsJournal, writeJournal } from '../../../../../test/support/real-journal.ts';
import type { CommandParameters } from '../../policy/policy.ts';
import { getEventLog } from './get-event-log.ts';
import { systemPaths } from './programs.ts';

// These tests read real journals with the real journalctl.

const signal = new AbortController().signal;

const other: Entry = { _TRANSPORT: 'journal', _PID: '7', SYSLOG_IDENTIFIER: 'other', _SYSTEMD_UNIT: 'other.service' };

/** Reads a journal with a journalctl that records how it is called. */
const openJournal = async (t: TestContext, entries: readonly Entry[]) => {
  const folder = await writeJournal(t, entries);
  const program = writeProgram(t, 'journalctl', `echo "$@" >> "$0.calls"; exec journalctl --directory=${folder} "$@"`);
  const paths = { ...systemPaths, journalctl: [program] };
  return {
    read: async (parameters: Partial<CommandParameters<'Get-EventLog'>>): Promise<unknown[]> => {
      const { rows } = await getEventLog(paths, { LogName: 'Application', Newest: 50, ...parameters }, signal);
      return rows.map(({ Message }) => Message);
    },
    readCalls: () => readFileSync(`${program}.calls`, 'utf8'),
  };
};

test(
  'sources are found in any case, by wildcards, and by unit where there is no identifier',
  needsJournal,
  async (t) => {
    const { SYSLOG_IDENTIFIER: _, ...unnamed } = other;
    const { read } = await openJournal(t, [
      ...Array(50).fill({ ...other, MESSAGE: 'filler' }),
      { ...other, SYSLOG_IDENTIFIER: 'Backup', MESSAGE: '1' },
      { ...unnamed, _SYSTEMD_UNIT: 'backup.service', MESSAGE: '2' },
      { ...other, _SYSTEMD_UNIT: 'backup.service', MESSAGE: 'of another source' },
      { ...other, SYSLOG_IDENTIFIER: '-tother', MESSAGE: '3' },
      { ...other, SYSLOG_IDENTIFIER: 'a b+c', MESSAGE: '4' },
      { ...other, SYSLOG_IDENTIFIER: 'kernel', _TRANSPORT: 'kernel', MESSAGE: '5' },
      { ...other, SYSLOG_IDENTIFIER: 'systemd', _PID: '1', MESSAGE: '6' },
    ]);
    const cases: [string[], string[]][] = [
      [['backup'], ['1']],
      [['BACKUP*'], ['2', '1']],
      [
        ['backup.service', 'a b+c'],
        ['4', '2'],
      ],
      [['-tother'], ['3']],
      [['nosuch', 'filler'], []],
      [['systemd', 'kernel'], []],
    ];
    for (const [Source, messages] of cases) assert.deepEqual(await read({ Source }), messages, Source.join());
    assert.deepEqual(await read({ LogName: 'System', Source: ['SYS*', 'k?rnel'] }), ['6', '5']);
    assert.deepEqual(await read({ LogName: 'System', Source: ['backup'] }), []);
  },
);

test('ids are found with and without sources', needsJournal, async (t) => {
  const id = 'fc2e22bc6ee647b6b90729ab34a250b1';
  const { read } = await openJournal(t, [
    ...Array(50).fill({ ...other, MESSAGE: 'filler' }),
    { ...other, MESSAGE_ID: id, MESSAGE: '1' },
    { ...other, MESSAGE_ID: id, SYSLOG_IDENTIFIER: 'backup', MESSAGE: '2' },
    { ...other, MESSAGE_ID: `1${id.slice(1)}`, MESSAGE: 'another id' },
  ]);
  assert.deepEqual(await read({ InstanceId: [5, 0xfc2e22bc] }), ['2', '1']);
  assert.deepEqual(await read({ InstanceId: [0xfc2e22bc], Source: ['backup'] }), ['2']);
  assert.deepEqual(await read({ InstanceId: [5] }), []);
  assert.deepEqual(await read({ InstanceId: [5], Source: ['backup'] }), []);
});

test('no entry is read for a source, an id or a type that the journal does not have', needsJournal, async (t) => {
  const { read, readCalls } = await openJournal(t, Array(50).fill({ ...other, MESSAGE: 'filler' }));
  assert.deepEqual(await read({ Source: ['nosuch'] }), []);
  assert.deepEqual(await read({ InstanceId: [5] }), []);
  assert.deepEqual(await read({ EntryType: ['SuccessAudit', 'FailureAudit'] }), []);
  assert.doesNotMatch(readCalls(), /--output/);
});

test(
  'a pattern that fits very many sources, or a very long one, is compared entry by entry',
  needsJournal,
  async (t) => {
    const many = Array.from({ length: 150 }, (_, index) => ({
      ...other,
      SYSLOG_IDENTIFIER: `many${index}`,
      MESSAGE: 'x',
    }));
    const { read } = await openJournal(t, [
      ...many,
      { ...other, SYSLOG_IDENTIFIER: `long${'g'.repeat(2000)}`, MESSAGE: 'long' },
    ]);
    assert.equal((await read({ Source: ['many*'], Newest: 1000 })).length, 150);
    assert.deepEqual(await read({ Source: ['long*'] }), ['long']);
  },
);

test('a failure of journalctl is reported once all its processes have ended', async (t) => {
  const journalctl = [writeProgram(t, 'journalctl', 'echo "$1 cannot be read" >&2; exit 1')];
  const run = getEventLog({ ...systemPaths, journalctl }, { LogName: 'System', Newest: 1, Source: ['x'] }, signal);
  await assert.rejects(run, /^Error: journalctl failed: --field=SYSLOG_IDENTIFIER cannot be read$/);
});
