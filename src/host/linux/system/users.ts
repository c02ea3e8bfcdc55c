import { readdir, readFile } from 'node:fs/promises';
import { endianness } from 'node:os';

/** ut_type of a session of a user, see utmp(5). */
const userProcess = 7;

/** Bytes in a record: 384 where glibc keeps its 32-bit times (x86, POWER), 400 elsewhere (ARM64, RISC-V). */
const recordLengths = [384, 400];

/** Sessions of users that are logged in, from systemd-logind or else utmp; null where neither is there. */
export const countUsers = async (runFolder: string): Promise<number | null> =>
  (await countLogindSessions(`${runFolder}/systemd/sessions`)) ??
  (await readFile(`${runFolder}/utmp`).then(countUtmpUsers, () => null));

/** Counts the sessions in the content of a utmp file. */
export const countUtmpUsers = (content: Buffer): number | null => {
  const length = recordLengths.find((each) => content.length % each === 0);
  if (length === undefined) {
    return null;
  }
  const view = new DataView(content.buffer, content.byteOffset, content.length);
  let users = 0;
  for (let start = 0; start < content.length; start += length) {
    users += view.getInt16(start, endianness() === 'LE') === userProcess ? 1 : 0;
  }
  return users;
};

/** Whether the content of a file of /run/systemd/sessions describes a user's session, not a greeter's. */
const isUserSession = (content: string): boolean =>
  /^CLASS=user$/m.test(content) && !/^STATE=closing$/m.test(content);

const countLogindSessions = async (folder: string): Promise<number | null> => {
  const names = await readdir(folder).catch(() => null);
  if (names === null) {
    return null;
  }
  // Beside each session lies its `.ref`, a pipe: reading that would not return.
  const sessions = names.filter((name) => !name.includes('.'));
  const contents = await Promise.all(
    sessions.map((name) => readFile(`${folder}/${name}`, 'utf8').catch(() => '')),
  );
  return contents.filter(isUserSession).length;
};
