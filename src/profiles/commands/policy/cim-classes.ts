interface CimClass {
  properties: readonly string[];
  /** What tells two instances apart: all that -KeyOnly returns. */
  keys: readonly string[];
}

/** The classes that Get-CimInstance may read, with every property that can be asked for. */
export const cimClasses = {
  Win32_OperatingSystem: {
    keys: ['CSName'],
    properties: [
      'Caption',
      'Version',
      'BuildNumber',
      'OSArchitecture',
      'CSName',
      'Status',
      'LastBootUpTime',
      'LocalDateTime',
      'TotalVisibleMemorySize',
      'FreePhysicalMemory',
      'TotalVirtualMemorySize',
      'FreeVirtualMemory',
      'NumberOfProcesses',
      'NumberOfUsers',
      'OSType',
      'CurrentTimeZone',
    ],
  },
  Win32_ComputerSystem: {
    keys: ['Name'],
    properties: [
      'Name',
      'DNSHostName',
      'Domain',
      'Manufacturer',
      'Model',
      'SystemType',
      'TotalPhysicalMemory',
      'NumberOfProcessors',
      'NumberOfLogicalProcessors',
      'HypervisorPresent',
    ],
  },
  Win32_Processor: {
    keys: ['DeviceID'],
    properties: [
      'DeviceID',
      'Name',
      'Manufacturer',
      'MaxClockSpeed',
      'CurrentClockSpeed',
      'NumberOfCores',
      'NumberOfLogicalProcessors',
      'LoadPercentage',
      'L2CacheSize',
      'L3CacheSize',
      'AddressWidth',
      'Architecture',
    ],
  },
  Win32_LogicalDisk: {
    keys: ['DeviceID'],
    properties: ['DeviceID', 'DriveType', 'FileSystem', 'VolumeName', 'FreeSpace', 'Size'],
  },
  Win32_Process: {
    keys: ['ProcessId'],
    properties: [
      'ProcessId',
      'ParentProcessId',
      'SessionId',
      'HandleCount',
      'ThreadCount',
      'Priority',
      'Name',
      'ExecutablePath',
      'CreationDate',
      'WorkingSetSize',
      'VirtualSize',
      'KernelModeTime',
      'UserModeTime',
    ],
  },
  Win32_Service: {
    keys: ['Name'],
    properties: [
      'Name',
      'DisplayName',
      'Description',
      'State',
      'StartMode',
      'Status',
      'StartName',
      'ProcessId',
      'ExitCode',
      'Started',
    ],
  },
} as const satisfies Record<string, CimClass>;

export type CimClassName = keyof typeof cimClasses;

export const cimClassNames = Object.keys(cimClasses) as CimClassName[];

/** An instance: every property of its class, null where the system does not offer it. */
export type CimInstance<C extends CimClassName> = Record<
  (typeof cimClasses)[C]['properties'][number],
  unknown
>;
