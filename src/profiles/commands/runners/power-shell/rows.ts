import type { Row } from '../../execution/runner.ts';
import type { readProperties } from './properties.ts';

/** An object as the script gives it: what it read, by the path of each property. */
export type ReadObject = Readonly<Record<string, unknown>>;

type Cmdlet = keyof typeof readProperties | 'Get-CimInstance';

/** Bits of an event's keywords, from winmeta.h. */
const keywordBits = { failureAudit: 2 ** 52, successAudit: 2 ** 53 };

/** What each cmdlet's objects become in the answer: the properties of the native runner, in its order. */
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

export const isCmdlet = (name: unknown): name is Cmdlet =>
  typeof name === 'string' && Object.hasOwn(rowMakers, name);

const toHundredths = (seconds: unknown): number | null =>
  typeof seconds === 'number' ? Math.round(seconds * 100) / 100 : null;

const toEntryType = (level: number, keywords: number): string => {
  if (hasBit(keywords, keywordBits.failureAudit)) return 'FailureAudit';
  if (hasBit(keywords, keywordBits.successAudit)) return 'SuccessAudit';
  if (level === 1 || level === 2) return 'Error';
  return level === 3 ? 'Warning' : 'Information';
};

/** Of a signed number of 64 bits; the lowest are lost in JavaScript, these are not. */
const hasBit = (number: number, bit: number): boolean => Math.abs(Math.floor(number / bit) % 2) === 1;
