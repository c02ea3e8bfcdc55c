import type { Unit } from './unit-output.ts';

export type ServiceStatus = 'Running' | 'Stopped' | 'StartPending' | 'StopPending';
export type StartType = 'Automatic' | 'Manual' | 'Disabled';

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

/** What cannot be told apart from stopped (inactive, failed, …) is Stopped; SubState keeps the difference. */
export const toStatus = ({ ActiveState }: Unit): ServiceStatus => statuses[ActiveState] ?? 'Stopped';

/**
 * Disabled, in Windows' sense, is a service that cannot be started at all: a masked unit. A unit that systemd
 * calls disabled is not started at boot but can be: Manual. Null where systemd knows no unit file.
 */
export const toStartType = ({ UnitFileState }: Unit): StartType | null =>
  UnitFileState === '' ? null : (startTypes[UnitFileState] ?? 'Manual');

/** The main process's last exit code, 128 + signal where a signal ended it; null where it never ended. */
export const toExitCode = ({ ExecMainCode, ExecMainStatus }: Unit): number | null => {
  if (ExecMainCode === '' || ExecMainCode === '0') return null;
  const status = Number(ExecMainStatus);
  return ExecMainCode === '1' ? status : 128 + status;
};

/** The unit's name without `.service`. */
export const toServiceName = ({ Id }: Unit): string => Id.replace(/\.service$/, '');

export const toText = (value: string): string | null => (value === '' ? null : value);
