import { readdir, readFile } from 'node:fs/promises';
import { endianness } from 'node:os';

/** ut_type of a session of a user, see utmp(5). */
const userProcess = 7;

/** Bytes in a record: 384 with glibc's 32-bit times (x86, POWER), 400 elsewhere (ARM64, RISC-V). */
const recordLengths = [384, 400];

/** Sessions of logged-in users, from systemd-logind or else utmp; null without both. */
export const countUsers = async (runFolder: string): Promise<number | null> =>
  (await countLogindSessions(`${runFolder}/systemd/sessions`)) ??
  (await readFile(`${runFolder}/utmp`).then(countUtmpUsers, () => null));

/** Counts the sessions in the content of a utmp file; null if it is damaged. */
export const countUtmpUsers = (content: Buffer): number | null => {
  const length = recordLengths.find((each) => content.length % each === 0);
  if (length === undefined) return null;
  const view = new DataView(content.buffer, content.byteOffset, content.length);
  let users = 0;
  for (let start = 0; start < content.length; start += length) {
    users += view.getInt16(start, endianness() === 'LE') === userProcess ? 1 : 0;
  }
  return users;
};

/** True if a file of /run/systemd/sessions describes a user's session, not a login screen. */
const isUserSession = (content: string): boolean => /^CLASS=user$/m.test(content) && !/^STATE=closing$/m.test(content);

const countLogindSessions = async (folder: string): Promise<number | null> => {
  const names = await readdir(folder).catch(() => null);
  if (names === null) return null;
  // Each session also has a `.ref`, a pipe: reading that would hang.
  const sessions = names.filter((name) => !name.includes('.'));
  const contents = await Promise.all(sessions.map((name) => readFile(`${folder}/${name}`, 'utf8').catch(() => '')));
  return contents.filter(isUserSession).length;
};
