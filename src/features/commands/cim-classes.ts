interface CimClass {
  properties: readonly string[];
  /** Properties that identify an instance. With -KeyOnly, no others are returned. */
  keys: readonly string[];
}

/** Classes that Get-CimInstance may read, with the properties that it may return. */
// biome-ignore format: a list of names reads better in lines than in a column
export const cimClasses = {
  Win32_OperatingSystem: {
    keys: ['CSName'],
    properties: [
      'Caption', 'Version', 'BuildNumber', 'OSArchitecture', 'CSName', 'Status', 'LastBootUpTime',
      'LocalDateTime', 'TotalVisibleMemorySize', 'FreePhysicalMemory', 'TotalVirtualMemorySize',
      'FreeVirtualMemory', 'NumberOfProcesses', 'NumberOfUsers', 'OSType', 'CurrentTimeZone',
    ],
  },
  Win32_ComputerSystem: {
    keys: ['Name'],
    properties: [
      'Name', 'DNSHostName', 'Domain', 'Manufacturer', 'Model', 'SystemType', 'TotalPhysicalMemory',
      'NumberOfProcessors', 'NumberOfLogicalProcessors', 'HypervisorPresent',
    ],
  },
  Win32_Processor: {
    keys: ['DeviceID'],
    properties: [
      'DeviceID', 'Name', 'Manufacturer', 'MaxClockSpeed', 'CurrentClockSpeed', 'NumberOfCores',
      'NumberOfLogicalProcessors', 'LoadPercentage', 'L2CacheSize', 'L3CacheSize', 'AddressWidth',
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
      'ProcessId', 'ParentProcessId', 'SessionId', 'HandleCount', 'ThreadCount', 'Priority', 'Name',
      'ExecutablePath', 'CreationDate', 'WorkingSetSize', 'VirtualSize', 'KernelModeTime', 'UserModeTime',
    ],
  },
  Win32_Service: {
    keys: ['Name'],
    properties: [
      'Name', 'DisplayName', 'Description', 'State', 'StartMode', 'Status', 'StartName', 'ProcessId',
      'ExitCode', 'Started',
    ],
  },
} as const satisfies Record<string, CimClass>;

export type CimClassName = keyof typeof cimClasses;

export const cimClassNames = Object.keys(cimClasses) as CimClassName[];

/** Instance with every property of its class. Properties that the system does not provide are null. */
export type CimInstance<C extends CimClassName> = Record<(typeof cimClasses)[C]['properties'][number], unknown>;
