import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toJournalArguments } from './journal-query.ts';

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

test('no part of a request becomes an argument of its own', () => {
  const args = toJournalArguments({ LogName: 'Application', Newest: 1, Source: ['--file=/etc/shadow'] }, [[]]);
  assert.ok(args.every((argument) => !argument.includes('shadow')));
});

test('each group of a log is combined with each alternative', () => {
  const args = toJournalArguments({ LogName: 'System', Newest: 1 }, [['A=1', 'A=2'], ['B=1']]);
  const kernel = ['_TRANSPORT=kernel', '_TRANSPORT=audit', '_TRANSPORT=driver'];
  assert.deepEqual(args.slice(fixed), [
    ...[...kernel, 'A=1', 'A=2', '+', ...kernel, 'B=1', '+'],
    ...['_PID=1', 'A=1', 'A=2', '+', '_PID=1', 'B=1'],
  ]);
});
