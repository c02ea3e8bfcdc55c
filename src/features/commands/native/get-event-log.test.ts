import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { writeProgram } from '../../../../test/support/child-programs.ts';
import { type Entry, needsJournal, writeJournal } from '../../../../test/support/real-journal.ts';
import { journal } from '../../../../test/support/recorded.ts';
import { systemPaths } from '../../../host/programs.ts';
import type { CommandParameters } from '../policy.ts';
import { CommandFailure } from '../runner.ts';
import { getEventLog, toEvent, toJournalArguments } from './get-event-log.ts';

const signal = new AbortController().signal;

/** Program that prints the recorded entries for any arguments, or the values of a field with `--field`. */
const recorded = `case "$1" in --field=*)
  printf '%s\\n' ${journal.flatMap((entry) => listIndexed(entry)).join(' ')}; exit;;
esac
cat <<'EOF'\n${journal.map((entry) => JSON.stringify(entry)).join('\n')}\nEOF`;

function listIndexed(entry: (typeof journal)[number]): string[] {
  const fields: Partial<Record<string, unknown>> = entry;
  return ['SYSLOG_IDENTIFIER', '_SYSTEMD_UNIT', 'MESSAGE_ID'].map((name) => String(fields[name]));
}

const read = (
  t: TestContext,
  script: string,
  parameters: Partial<CommandParameters<'Get-EventLog'>> = {},
): ReturnType<typeof getEventLog> => {
  const journalctl = [writeProgram(t, 'journalctl', script)];
  return getEventLog({ ...systemPaths, journalctl }, { LogName: 'Application', Newest: 50, ...parameters }, signal);
};

test('the filters of Get-EventLog choose among the recorded entries of journalctl', async (t) => {
  const cases: [Partial<CommandParameters<'Get-EventLog'>>, number[]][] = [
    [{}, [0x15d, 0x15c, 0x15b, 0x159]],
    [{ LogName: 'System' }, [0x15d, 0x15c, 0x15b, 0x159, 0x158]],
    [{ Newest: 2 }, [0x15d, 0x15c]],
    [{ EntryType: ['Error', 'Warning'] }, [0x15c, 0x15b]],
    [{ EntryType: ['FailureAudit'] }, []],
    [{ Source: ['DEMO', 'big*'] }, [0x15d, 0x15b]],
    [{ InstanceId: [0xfc2e22bc] }, [0x15b]],
    [{ Index: [0x15c, 0x159, 7] }, [0x15c, 0x159]],
    [{ After: new Date('2026-11-21T11:15:35.528Z') }, [0x15d]],
    [{ Before: new Date('2026-11-21T11:15:35.523Z') }, [0x159]],
  ];
  for (const [parameters, indexes] of cases) {
    const { rows, truncated } = await read(t, recorded, parameters);
    assert.deepEqual(
      rows.map(({ Index }) => Index),
      indexes,
      JSON.stringify(parameters),
    );
    assert.equal(truncated, false);
  }
});

test('an entry longer than 1 MiB is skipped and output over 8 MiB is cut, and both mark the result as truncated', async (t) => {
  const filler = (bytes: number): string => `head -c ${bytes} /dev/zero | tr '\\0' x`;
  const huge = `printf '{"MESSAGE":"'; ${filler(2 ** 20)}; echo '"}'\n${recorded}`;
  const cut = await read(t, huge);
  assert.deepEqual([cut.rows.length, cut.truncated], [4, true]);
  const endless = `while :; do printf '{"__REALTIME_TIMESTAMP":"1","MESSAGE":"'; ${filler(1e6)}; echo '"}'; done`;
  const many = await read(t, endless);
  assert.deepEqual([many.rows.length, many.truncated], [9, true]);
});

test('a command fails if journalctl is killed before it has written everything', async (t) => {
  const killed = read(t, `${recorded}\nkill -9 $$`);
  await assert.rejects(killed, new CommandFailure('journalctl failed: the program wrote no error message'));
});

test('the error names a missing journal, journalctl or permission', async (t) => {
  const none = 'test "$1" = --header && echo "No journal files were found." >&2; exit 0';
  const noFiles = 'Events need a journal: no journal files were found on this machine';
  await assert.rejects(read(t, none), new CommandFailure(noFiles));
  const denied = 'test "$1" = --header && { echo "insufficient permissions" >&2; exit 1; }; exit 0';
  const noRight = new CommandFailure('journalctl failed: insufficient permissions');
  await assert.rejects(read(t, denied), noRight);
  await assert.rejects(read(t, 'echo "insufficient permissions" >&2; exit 1'), noRight);
  const withoutMatch = 'test "$1" = --header && echo "File path: /run/log/journal/x"; exit 0';
  assert.deepEqual(await read(t, withoutMatch), { rows: [], truncated: false });
  const parameters = { LogName: 'System', Newest: 1 } as const;
  const notInstalled = new CommandFailure('Events need a journal: journalctl is not installed');
  await assert.rejects(getEventLog({ ...systemPaths, journalctl: [] }, parameters, signal), notInstalled);
});

test('the journal of this machine is read, or the error names the missing part', async () => {
  const events = getEventLog(systemPaths, { LogName: 'System', Newest: 3 }, signal);
  try {
    assert.ok((await events).rows.length <= 3);
  } catch (error) {
    assert.match(String(error), /^Error: (?:Events need a journal|journalctl failed)/);
  }
});

const users = new Map([['0', 'root']]);
const events = journal.map((entry) => toEvent(entry, users));

test('a recorded entry becomes an event with all its properties', () => {
  assert.deepEqual(events[2], {
    Index: 0x15b,
    TimeGenerated: '2026-11-21T11:15:35.523Z',
    TimeWritten: '2026-11-21T11:15:35.523Z',
    EntryType: 'Error',
    Source: 'demo',
    InstanceId: 0xfc2e22bc,
    EventID: 0x3c2e22bc,
    Category: null,
    Message: 'hello world',
    MachineName: 'vm',
    UserName: 'root',
  });
});

test('a message of bytes is decoded, a missing priority is Information, and a missing identifier is the unit', () => {
  assert.equal(events[1]?.Message, 'esc \u001b[1m bold');
  assert.equal(events[1]?.EntryType, 'Warning');
  const { EntryType, Source, InstanceId, EventID, UserName } = events[0] ?? {};
  assert.deepEqual(
    [EntryType, Source, InstanceId, EventID, UserName],
    ['Information', 'big.service', null, null, '4294967000'],
  );
  assert.equal(events[3]?.Category, 'daemon');
});

test('invalid UTF-8 is replaced, and missing fields are null', () => {
  assert.equal(toEvent({ MESSAGE: [0xff, 65] }, users).Message, '\ufffdA');
  assert.equal(toEvent({ MESSAGE: [[104, 105], 'x'] }, users).Message, 'hi');
  const { EntryType, ...others } = toEvent({ MESSAGE: null, MESSAGE_ID: 'own', SYSLOG_FACILITY: '99' }, users);
  assert.equal(EntryType, 'Information');
  assert.deepEqual(new Set(Object.values(others)), new Set([null]));
});

const fixed = 5;

test('journalctl gets options that restrict the entries, each with its value in the same argument', () => {
  const cases: [Parameters<typeof toJournalArguments>[0], string[]][] = [
    [{ LogName: 'System', Newest: 50 }, []],
    [{ LogName: 'System', Newest: 50, EntryType: ['Error'] }, ['--priority=0..3']],
    [{ LogName: 'System', Newest: 50, EntryType: ['Warning'] }, ['--priority=4..4']],
    [{ LogName: 'System', Newest: 50, EntryType: ['Warning', 'Error'] }, ['--priority=0..4']],
    [{ LogName: 'System', Newest: 50, EntryType: ['Information', 'Error'] }, []],
    [{ LogName: 'System', Newest: 50, EntryType: ['SuccessAudit'] }, []],
    [{ LogName: 'System', Newest: 50, After: new Date(1500), Before: new Date(2000) }, ['--since=@1.5', '--until=@2']],
  ];
  for (const [parameters, expected] of cases) {
    const options = toJournalArguments(parameters, [[]]).slice(fixed);
    assert.deepEqual(options.slice(0, expected.length), expected);
    assert.equal(options[expected.length], '_TRANSPORT=kernel');
  }
});

test('no part of a request becomes a separate argument', () => {
  const args = toJournalArguments({ LogName: 'Application', Newest: 1, Source: ['--file=/etc/shadow'] }, [[]]);
  assert.ok(args.every((argument) => !argument.includes('shadow')));
});

test('the arguments for journalctl combine each group of a log with each alternative', () => {
  const args = toJournalArguments({ LogName: 'System', Newest: 1 }, [['A=1', 'A=2'], ['B=1']]);
  const kernel = ['_TRANSPORT=kernel', '_TRANSPORT=audit', '_TRANSPORT=driver'];
  assert.deepEqual(args.slice(fixed), [
    ...[...kernel, 'A=1', 'A=2', '+', ...kernel, 'B=1', '+'],
    ...['_PID=1', 'A=1', 'A=2', '+', '_PID=1', 'B=1'],
  ]);
});

// The following tests read real journals with the real journalctl.

const other: Entry = { _TRANSPORT: 'journal', _PID: '7', SYSLOG_IDENTIFIER: 'other', _SYSTEMD_UNIT: 'other.service' };

/** Opens a journal with a stand-in for journalctl that records its calls. */
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
  'sources are found in any case, by wildcards, and by unit for entries without an identifier',
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
  'a pattern that matches very many sources, or a very long one, is compared entry by entry',
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
