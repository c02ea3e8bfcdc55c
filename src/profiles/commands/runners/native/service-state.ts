import type { Unit } from './units.ts';

type ServiceStatus = 'Running' | 'Stopped' | 'StartPending' | 'StopPending';
type StartType = 'Automatic' | 'Manual' | 'Disabled';

const statuses: Record<string, ServiceStatus> = {
  active: 'Running',
  reloading: 'Running',
  refreshing: 'Running',
  activating: 'StartPending',
  deactivating: 'StopPending',
};

const startTypes: Record<string, StartType> = {
  enabled: 'Automatic',
  'enabled-runtime': 'Automatic',
  masked: 'Disabled',
  'masked-runtime': 'Disabled',
};

/** Inactive, failed and all other states are Stopped; SubState has the difference. */
export const toStatus = ({ ActiveState }: Unit): ServiceStatus => statuses[ActiveState] ?? 'Stopped';

/**
 * In Windows a Disabled service cannot be started at all, like a masked unit. A unit that systemd calls disabled
 * can be started, so it is Manual. Null without a unit file.
 */
export const toStartType = ({ UnitFileState }: Unit): StartType | null =>
  UnitFileState === '' ? null : (startTypes[UnitFileState] ?? 'Manual');

/** The main process's last exit code, or 128 + signal; null if it never exited. */
export const toExitCode = ({ ExecMainCode, ExecMainStatus }: Unit): number | null => {
  if (ExecMainCode === '' || ExecMainCode === '0') return null;
  const status = Number(ExecMainStatus);
  return ExecMainCode === '1' ? status : 128 + status;
};

/** The unit's name without `.service`. */
export const toServiceName = ({ Id }: Unit): string => Id.replace(/\.service$/, '');
