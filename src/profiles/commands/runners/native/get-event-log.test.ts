import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { writeProgram } from '../../../../../test/support/child-programs.ts';
import { journal } from '../../../../../test/support/recorded.ts';
import { CommandFailure } from '../../execution/runner.ts';
import type { CommandParameters } from '../../policy/policy.ts';
import { getEventLog } from './get-event-log.ts';
import { systemPaths } from './programs.ts';

const signal = new AbortController().signal;

/** A program that prints the recorded entries, whatever it is asked for, or the values of a field. */
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

test('the filters choose among the recorded entries of journalctl', async (t) => {
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

test('a journalctl that is killed before it has written everything fails the command', async (t) => {
  const killed = read(t, `${recorded}\nkill -9 $$`);
  await assert.rejects(killed, new CommandFailure('journalctl failed: it wrote no error message'));
});

test('a missing journal, journalctl or permission is named in the error', async (t) => {
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

test('the journal of this machine is read, or the error says what is missing', async () => {
  const events = getEventLog(systemPaths, { LogName: 'System', Newest: 3 }, signal);
  try {
    assert.ok((await events).rows.length <= 3);
  } catch (error) {
    assert.match(String(error), /^Error: (?:Events need a journal|journalctl failed)/);
  }
});
