import { CommandFailure, type Row } from '../../execution/runner.ts';
import { createAnyMatcher, createMatcher, hasWildcard, nameWildcards } from '../../language/wildcard.ts';
import type { CommandParameters } from '../../policy/policy.ts';
import { toExitCode, toServiceName, toStartType, toStatus, toText } from './service-state.ts';
import type { Unit } from './unit-output.ts';

/** Get-Service over systemd's units; a CommandFailure where a name without wildcards is no service. */
export const getService = (units: readonly Unit[], parameters: CommandParameters<'Get-Service'>): Row[] => {
  const { Name, DisplayName, Include, Exclude } = parameters;
  const services = units.map(toService);
  const named = choose(services, 'Name', Name, 'service name');
  const chosen = choose(named, 'DisplayName', DisplayName, 'display name');
  const isIncluded = Include ? createAnyMatcher(Include) : () => true;
  const isExcluded = createAnyMatcher(Exclude ?? []);
  return chosen
    .filter(({ Name }) => isIncluded(Name) && !isExcluded(Name))
    .sort((a, b) => (a.Name < b.Name ? -1 : 1));
};

type Service = ReturnType<typeof toService>;

const toService = (unit: Unit) => ({
  Name: toServiceName(unit),
  DisplayName: unit.Description,
  Status: toStatus(unit),
  StartType: toStartType(unit),
  ServiceType: toText(unit.Type),
  CanStop: unit.CanStop === 'yes' && toStatus(unit) === 'Running',
  MachineName: '.',
  SubState: toText(unit.SubState),
  ExitCode: toExitCode(unit),
});

const choose = (
  services: Service[],
  property: 'Name' | 'DisplayName',
  patterns: readonly string[] | undefined,
  noun: string,
): Service[] => {
  if (!patterns) return services;
  for (const pattern of patterns) {
    const matches = createMatcher(pattern, nameWildcards);
    if (!hasWildcard(pattern) && !services.some((service) => matches(service[property]))) {
      throw new CommandFailure(`Cannot find any service with ${noun} '${pattern}'.`);
    }
  }
  const matches = createAnyMatcher(patterns);
  return services.filter((service) => matches(service[property]));
};
