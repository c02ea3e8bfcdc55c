/**
 * What is read of each object that a cmdlet gives; a dot leads to a property of a property. Nothing here is a
 * command line. Those of Get-CimInstance come from its classes.
 */
export const readProperties = {
  'Get-Process': [
    'Id',
    'ProcessName',
    'CPU',
    'WorkingSet64',
    'PagedMemorySize64',
    'VirtualMemorySize64',
    'PrivateMemorySize64',
    'HandleCount',
    'Threads.Count',
    'SessionId',
    'StartTime',
    'Path',
    'Parent.Id',
  ],
  'Get-Service': ['Name', 'DisplayName', 'Status', 'StartType', 'ServiceType', 'CanStop', 'MachineName'],
  'Get-EventLog': [
    'Index',
    'TimeGenerated',
    'TimeWritten',
    'EntryType',
    'Source',
    'InstanceId',
    'EventID',
    'Category',
    'Message',
    'MachineName',
    'UserName',
  ],
  'Get-WinEvent': [
    'RecordId',
    'TimeCreated',
    'Level',
    'Keywords',
    'ProviderName',
    'Id',
    'Qualifiers',
    'TaskDisplayName',
    'Message',
    'MachineName',
    'UserId',
  ],
} as const;

/** What Get-WinEvent, which stands in where there is no Get-EventLog, may be filtered by. */
export const eventFilterKeys = ['LogName', 'StartTime', 'EndTime', 'Level', 'ProviderName'] as const;
