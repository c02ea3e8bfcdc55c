import { readFile } from 'node:fs/promises';

/** Names of the machine's own users by uid, from passwd(5); empty where there is no such file. */
export const readUserNames = async (path = '/etc/passwd'): Promise<Map<string, string>> =>
  parseUserNames(await readFile(path, 'utf8').catch(() => ''));

const parseUserNames = (text: string): Map<string, string> =>
  new Map(
    text.split('\n').flatMap((line) => {
      const [name = '', , uid] = line.split(':');
      return uid === undefined ? [] : [[uid, name]];
    }),
  );
