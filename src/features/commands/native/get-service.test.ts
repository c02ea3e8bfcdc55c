import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { writeProgram } from '../../../../test/support/child-programs.ts';
import { systemctlScript, unitProperties } from '../../../../test/support/recorded.ts';
import { systemPaths } from '../../../host/programs.ts';
import { CommandFailure } from '../runner.ts';
import { getService, parseUnitProperties, readUnits } from './get-service.ts';

const units = parseUnitProperties(unitProperties);
const read = (parameters: Parameters<typeof getService>[1]) => getService(units, parameters).map(({ Name }) => Name);

test('recorded units become services sorted by name, and a failed service has its exit code', () => {
  const services = getService(units, {});
  assert.deepEqual(
    services.map(({ Name, Status, StartType, CanStop, ExitCode }) => [Name, Status, StartType, CanStop, ExitCode]),
    [
      ['barred', 'Stopped', 'Disabled', false, null],
      ['demo', 'Running', 'Automatic', true, null],
      ['fails', 'Stopped', 'Manual', false, 3],
      ['killed', 'StopPending', 'Manual', false, 137],
      ['many@1', 'StartPending', null, false, null],
      ['removed', 'Stopped', null, false, null],
    ],
  );
  assert.deepEqual(services[1], {
    Name: 'demo',
    DisplayName: 'Demo "q" é',
    Status: 'Running',
    StartType: 'Automatic',
    ServiceType: 'simple',
    CanStop: true,
    MachineName: '.',
    SubState: 'running',
    ExitCode: null,
  });
  assert.equal(services[0]?.['ServiceType'], null);
});

test('services are chosen by name or display name, then by Include and Exclude', () => {
  assert.deepEqual(read({ Name: ['DEMO', 'f*'] }), ['demo', 'fails']);
  assert.deepEqual(read({ DisplayName: ['killed*'] }), ['killed']);
  assert.deepEqual(read({ Include: ['*e*'], Exclude: ['*v*', 'killed'] }), ['barred', 'demo']);
  assert.deepEqual(read({ Name: ['nothing*'] }), []);
});

test('Get-Service fails as in PowerShell for a name without wildcards that no service has', () => {
  const failure = new CommandFailure("Cannot find any service with service name 'nosuch'.");
  assert.throws(() => read({ Name: ['demo', 'nosuch'] }), failure);
  const other = new CommandFailure("Cannot find any service with display name 'demo'.");
  assert.throws(() => read({ DisplayName: ['demo'] }), other);
});

const signal = new AbortController().signal;

test('recorded systemctl output yields each installed or loaded service once, without aliases and missing units', async (t) => {
  const systemctl = writeProgram(t, 'systemctl', systemctlScript);
  const units = await readUnits({ ...systemPaths, systemctl: [systemctl], bootMark: '/' }, signal);
  assert.deepEqual(
    units.map(({ Id }) => Id),
    ['demo.service', 'fails.service', 'killed.service', 'barred.service', 'many@1.service'],
  );
  assert.equal(units[2]?.Description, 'Killed = ended');
  assert.equal(units[3]?.Type, '');
  assert.equal(units[4]?.Description, 'a\n\nId=evil.service');
});

test('empty systemctl output yields no services', async (t) => {
  const systemctl = writeProgram(t, 'systemctl', 'test "$1" != show && echo "[]"');
  assert.deepEqual(await readUnits({ ...systemPaths, systemctl: [systemctl], bootMark: '/' }, signal), []);
});

test('the two lists of services are read together', async (t) => {
  const script = `case "$1" in
    list-unit-files) until [ -e "$0.loaded" ]; do :; done; echo '[]';;
    list-units) touch "$0.loaded"; echo '[]';;
  esac`;
  const systemctl = writeProgram(t, 'systemctl', script);
  assert.deepEqual(await readUnits({ ...systemPaths, systemctl: [systemctl], bootMark: '/' }, signal), []);
});

test('a failure of one list of services is reported once the other list has ended', async (t) => {
  const script = `case "$1" in
    list-unit-files) until [ -e "$0.loaded" ]; do :; done; touch "$0.ended"; echo '[]';;
    list-units) touch "$0.loaded"; echo 'no bus' >&2; exit 1;;
  esac`;
  const systemctl = writeProgram(t, 'systemctl', script);
  const units = readUnits({ ...systemPaths, systemctl: [systemctl], bootMark: '/' }, signal);
  await assert.rejects(units, new CommandFailure('systemctl failed: no bus'));
  assert.ok(existsSync(`${systemctl}.ended`));
});

test('the error names a missing systemctl or systemd', async () => {
  await assert.rejects(
    readUnits({ ...systemPaths, systemctl: ['/nonexistent/systemctl'] }, signal),
    new CommandFailure('Services need systemd: systemctl is not installed'),
  );
  await assert.rejects(
    readUnits({ ...systemPaths, systemctl: ['/bin/sh'], bootMark: '/nonexistent' }, signal),
    new CommandFailure('Services need systemd, which is not running on this machine'),
  );
});

test('the services of this machine are read, or the error names the missing part', async () => {
  const units = readUnits(systemPaths, signal);
  if (existsSync(systemPaths.bootMark)) assert.notEqual((await units).length, 0);
  else await assert.rejects(units, /^Error: Services need systemd/);
});
