import type { CimInstance } from '../../../policy/cim-classes.ts';
import {
  type ServiceStatus,
  type StartType,
  toExitCode,
  toServiceName,
  toStartType,
  toStatus,
} from '../service-state.ts';
import type { Unit } from '../unit-output.ts';
import type { CimSources } from './sources.ts';

const states: Record<ServiceStatus, string> = {
  Running: 'Running',
  Stopped: 'Stopped',
  StartPending: 'Start Pending',
  StopPending: 'Stop Pending',
};

const startModes: Record<StartType, string> = { Automatic: 'Auto', Manual: 'Manual', Disabled: 'Disabled' };

/** systemd's services. StartName is the user; without a `User=` that is root. */
export const readServices = async ({ readUnits }: CimSources): Promise<CimInstance<'Win32_Service'>[]> =>
  (await readUnits()).map(toInstance);

const toInstance = (unit: Unit): CimInstance<'Win32_Service'> => {
  const status = toStatus(unit);
  const startType = toStartType(unit);
  return {
    Name: toServiceName(unit),
    DisplayName: unit.Description,
    Description: unit.Description,
    State: states[status],
    StartMode: startType && startModes[startType],
    Status: unit.ActiveState === 'failed' ? 'Error' : 'OK',
    StartName: unit.User || 'root',
    ProcessId: Number(unit.MainPID) || null,
    ExitCode: toExitCode(unit),
    Started: status === 'Running',
  };
};
