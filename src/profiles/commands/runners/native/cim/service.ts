import type { CimInstance } from '../../../policy/cim-classes.ts';
import { toExitCode, toServiceName, toStartType, toStatus } from '../service-state.ts';
import type { Unit } from '../units.ts';

/** Of a systemd service. StartName is the user, which is root without a `User=`. */
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
