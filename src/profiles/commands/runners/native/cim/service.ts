import type { CimInstance } from '../../../policy/cim-classes.ts';
import {
  type ServiceStatus,
  type StartType,
  toExitCode,
  toServiceName,
  toStartType,
  toStatus,
} from '../service-state.ts';
import type { Unit } from '../units.ts';

const states: Record<ServiceStatus, string> = {
  Running: 'Running',
  Stopped: 'Stopped',
  StartPending: 'Start Pending',
  StopPending: 'Stop Pending',
};

const startModes: Record<StartType, string> = { Automatic: 'Auto', Manual: 'Manual', Disabled: 'Disabled' };

/** Of a systemd service. StartName is the user, which is root without a `User=`. */
export const toServiceInstance = (unit: Unit): CimInstance<'Win32_Service'> => {
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
