import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unitProperties } from '../../../../../test/support/recorded.ts';
import { CommandFailure } from '../../execution/runner.ts';
import { getService } from './get-service.ts';
import { parseUnitProperties } from './units.ts';

const units = parseUnitProperties(unitProperties);
const read = (parameters: Parameters<typeof getService>[1]) => getService(units, parameters).map(({ Name }) => Name);

test('recorded units become services sorted by name, and a failed one has its exit code', () => {
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

test('a name without wildcards and without a service fails as in PowerShell', () => {
  const failure = new CommandFailure("Cannot find any service with service name 'nosuch'.");
  assert.throws(() => read({ Name: ['demo', 'nosuch'] }), failure);
  const other = new CommandFailure("Cannot find any service with display name 'demo'.");
  assert.throws(() => read({ DisplayName: ['demo'] }), other);
});
