import type { Row } from '../../execution/runner.ts';

/** The properties that are read of each object; a dot leads to a property of a property. None is a command line. */
// biome-ignore format: a list of names reads better in lines than in a column
export const readProperties = {
  'Get-Process': [
    'Id', 'ProcessName', 'CPU', 'WorkingSet64', 'PagedMemorySize64', 'VirtualMemorySize64',
    'PrivateMemorySize64', 'HandleCount', 'Threads.Count', 'SessionId', 'StartTime', 'Path', 'Parent.Id',
  ],
  'Get-Service': ['Name', 'DisplayName', 'Status', 'StartType', 'ServiceType', 'CanStop', 'MachineName'],
  'Get-EventLog': [
    'Index', 'TimeGenerated', 'TimeWritten', 'EntryType', 'Source', 'InstanceId', 'EventID', 'Category',
    'Message', 'MachineName', 'UserName',
  ],
  'Get-WinEvent': [
    'RecordId', 'TimeCreated', 'Level', 'Keywords', 'ProviderName', 'Id', 'Qualifiers', 'TaskDisplayName',
    'Message', 'MachineName', 'UserId',
  ],
} as const;

/** The filters of Get-WinEvent, which replaces a missing Get-EventLog. */
export const eventFilterKeys = ['LogName', 'StartTime', 'EndTime', 'Level', 'ProviderName'] as const;

/** An object from the script: the values by the path of each property. */
export type ReadObject = Readonly<Record<string, unknown>>;

/** The properties of Get-CimInstance come from its class. */
type Cmdlet = keyof typeof readProperties | 'Get-CimInstance';

/** Bits of an event's keywords, from winmeta.h. */
const keywordBits = { failureAudit: 2 ** 52, successAudit: 2 ** 53 };

/** Turns each cmdlet's objects into rows with the same properties as the native runner's, in the same order. */
export const rowMakers: Record<Cmdlet, (read: ReadObject) => Row> = {
  'Get-Process': (read) => ({
    Id: read['Id'],
    ProcessName: read['ProcessName'],
    CPU: toHundredths(read['CPU']),
    WorkingSet64: read['WorkingSet64'],
    PagedMemorySize64: read['PagedMemorySize64'] || null,
    VirtualMemorySize64: read['VirtualMemorySize64'],
    PrivateMemorySize64: read['PrivateMemorySize64'] || null,
    HandleCount: read['HandleCount'],
    ThreadCount: read['Threads.Count'],
    SessionId: read['SessionId'],
    StartTime: read['StartTime'],
    Path: read['Path'] || null,
    ParentId: read['Parent.Id'],
  }),
  'Get-Service': (read) => ({ ...read, SubState: null, ExitCode: null }),
  'Get-EventLog': (read) => ({
    ...read,
    EntryType: read['EntryType'] === '0' ? 'Information' : read['EntryType'],
  }),
  'Get-WinEvent': (read) => ({
    Index: read['RecordId'],
    TimeGenerated: read['TimeCreated'],
    TimeWritten: read['TimeCreated'],
    EntryType: toEntryType(Number(read['Level']), Number(read['Keywords'])),
    Source: read['ProviderName'],
    InstanceId: Number(read['Qualifiers']) * 2 ** 16 + Number(read['Id']),
    EventID: read['Id'],
    Category: read['TaskDisplayName'],
    Message: read['Message'],
    MachineName: read['MachineName'],
    UserName: read['UserId'],
  }),
  'Get-CimInstance': (read) => ({ ...read }),
};

export const isCmdlet = (name: unknown): name is Cmdlet => typeof name === 'string' && Object.hasOwn(rowMakers, name);

const toHundredths = (seconds: unknown): number | null =>
  typeof seconds === 'number' ? Math.round(seconds * 100) / 100 : null;

const toEntryType = (level: number, keywords: number): string => {
  if (hasBit(keywords, keywordBits.failureAudit)) return 'FailureAudit';
  if (hasBit(keywords, keywordBits.successAudit)) return 'SuccessAudit';
  if (level === 1 || level === 2) return 'Error';
  return level === 3 ? 'Warning' : 'Information';
};

/** Tests a signed 64-bit number. JavaScript rounds its lowest bits, but not these. */
const hasBit = (number: number, bit: number): boolean => Math.abs(Math.floor(number / bit) % 2) === 1;
