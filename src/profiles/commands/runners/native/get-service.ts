import { CommandFailure, type Row } from '../../execution/runner.ts';
import { createAnyMatcher, findUnmatched } from '../../language/wildcard.ts';
import type { CimInstance } from '../../policy/cim-classes.ts';
import type { CommandParameters } from '../../policy/policy.ts';
import { toExitCode, toServiceName, toStartType, toStatus } from './service-state.ts';
import type { Unit } from './units.ts';

/** Get-Service for systemd's units; throws a CommandFailure if a name without wildcards matches no service. */
export const getService = (units: readonly Unit[], parameters: CommandParameters<'Get-Service'>): Row[] => {
  const { Name, DisplayName, Include, Exclude } = parameters;
  const services = units.map(toService);
  const named = choose(services, 'Name', Name, 'service name');
  const chosen = choose(named, 'DisplayName', DisplayName, 'display name');
  const isIncluded = Include ? createAnyMatcher(Include) : () => true;
  const isExcluded = createAnyMatcher(Exclude ?? []);
  return chosen.filter(({ Name }) => isIncluded(Name) && !isExcluded(Name)).sort((a, b) => (a.Name < b.Name ? -1 : 1));
};

/** A systemd service as Get-CimInstance shows it. StartName is the user, which is root without a `User=`. */
export const toServiceInstance = (unit: Unit): CimInstance<'Win32_Service'> => {
  const status = toStatus(unit);
  const startType = toStartType(unit);
  return {
    Name: toServiceName(unit),
    DisplayName: unit.Description,
    Description: unit.Description,
    State: status.replace('Pending', ' Pending'),
    StartMode: startType === 'Automatic' ? 'Auto' : startType,
    Status: unit.ActiveState === 'failed' ? 'Error' : 'OK',
    StartName: unit.User || 'root',
    ProcessId: Number(unit.MainPID) || null,
    ExitCode: toExitCode(unit),
    Started: status === 'Running',
  };
};

type Service = ReturnType<typeof toService>;

const toService = (unit: Unit) => ({
  Name: toServiceName(unit),
  DisplayName: unit.Description,
  Status: toStatus(unit),
  StartType: toStartType(unit),
  ServiceType: unit.Type || null,
  CanStop: unit.CanStop === 'yes' && toStatus(unit) === 'Running',
  MachineName: '.',
  SubState: unit.SubState || null,
  ExitCode: toExitCode(unit),
});

const choose = (
  services: Service[],
  property: 'Name' | 'DisplayName',
  patterns: readonly string[] | undefined,
  noun: string,
): Service[] => {
  if (!patterns) return services;
  const texts = services.map((service) => service[property]);
  const missing = findUnmatched(patterns, texts);
  if (missing !== undefined) throw new CommandFailure(`Cannot find any service with ${noun} '${missing}'.`);
  const matches = createAnyMatcher(patterns);
  return services.filter((service) => matches(service[property]));
};
