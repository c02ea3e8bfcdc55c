import { readFile } from 'node:fs/promises';

/** An entry from `journalctl --output=json`; a value is a text, an array of bytes, or an array of either. */
export type JournalEntry = Readonly<Record<string, unknown>>;

/** The fields that `toEvent` reads and that journalctl does not always write. */
// biome-ignore format: a list of names reads better in lines than in a column
export const entryFields = [
  'MESSAGE', 'MESSAGE_ID', 'PRIORITY', 'SYSLOG_FACILITY', 'SYSLOG_IDENTIFIER', '_HOSTNAME', '_PID',
  '_SOURCE_REALTIME_TIMESTAMP', '_SYSTEMD_UNIT', '_UID',
] as const;

/** Names of the facilities of syslog(3), by number. */
// biome-ignore format: a list of names reads better in lines than in a column
const facilities = [
  'kern', 'user', 'mail', 'daemon', 'auth', 'syslog', 'lpr', 'news',
  'uucp', 'cron', 'authpriv', 'ftp', '.', '.', '.', '.',
  'local0', 'local1', 'local2', 'local3', 'local4', 'local5', 'local6', 'local7',
];

/** Converts a journal entry to an event of Windows' event log. */
export const toEvent = (entry: JournalEntry, userNames: ReadonlyMap<string, string>) => {
  const read = (name: (typeof entryFields)[number]): string | null => toText(entry[name]);
  const written = toTime(toText(entry['__REALTIME_TIMESTAMP']));
  const instanceId = toInstanceId(read('MESSAGE_ID'));
  const uid = read('_UID');
  return {
    Index: toIndex(toText(entry['__CURSOR'])),
    TimeGenerated: toTime(read('_SOURCE_REALTIME_TIMESTAMP')) ?? written,
    TimeWritten: written,
    EntryType: toEntryType(Number(read('PRIORITY') ?? 6)),
    Source: read('SYSLOG_IDENTIFIER') ?? read('_SYSTEMD_UNIT'),
    InstanceId: instanceId,
    EventID: instanceId === null ? null : instanceId % 2 ** 30,
    Category: facilities[Number(read('SYSLOG_FACILITY') ?? Number.NaN)] ?? null,
    Message: read('MESSAGE'),
    MachineName: read('_HOSTNAME'),
    UserName: uid && (userNames.get(uid) ?? uid),
  };
};

/** A field's first value. Values with control characters or invalid UTF-8 are arrays of bytes. */
export const toText = (value: unknown): string | null => {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return null;
  return typeof value[0] === 'number' ? Buffer.from(value).toString() : toText(value[0]);
};

const toEntryType = (priority: number): 'Error' | 'Warning' | 'Information' => {
  if (priority <= 3) return 'Error';
  return priority === 4 ? 'Warning' : 'Information';
};

/** The entry's number in the journal is the part `i=` of its cursor, in hexadecimal. */
const toIndex = (cursor: string | null): number | null => {
  const digits = /;i=([0-9a-f]+)/.exec(cursor ?? '')?.[1];
  return digits === undefined ? null : Number.parseInt(digits, 16);
};

const toTime = (microseconds: string | null): string | null =>
  microseconds && new Date(Number(microseconds) / 1000).toISOString();

/** The first 32 of the 128 bits of a message id. */
export const toInstanceId = (messageId: string | null): number | null =>
  messageId && /^[0-9a-f]{32}$/.test(messageId) ? Number.parseInt(messageId.slice(0, 8), 16) : null;

/** Names of local users by uid, from passwd(5); empty if the file cannot be read. */
export const readUserNames = async (path = '/etc/passwd'): Promise<Map<string, string>> => {
  const text = await readFile(path, 'utf8').catch(() => '');
  return new Map(
    text.split('\n').flatMap((line) => {
      const [name = '', , uid] = line.split(':');
      return uid === undefined ? [] : [[uid, name]];
    }),
  );
};
