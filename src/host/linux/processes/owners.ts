import { readFileSync } from 'node:fs';
import type { ProcessReading } from '../../readings.ts';
import { mapInSlices } from '../../sampling/time-slices.ts';
import { readKernelFile, readOrNull } from '../kernel-file.ts';

/** A process may change its user soon after it was started, as logins and services do; later its user is kept. */
const settledAfterMs = 60_000;

type Found = Pick<ProcessReading, 'pid' | 'startedAt'>;

/** Reads `HostReadings.processOwners`. `passwdPath` is usually /etc/passwd; ids that it does not name stay numbers. */
export const createOwnerReader = (procFolder: string, passwdPath: string) => {
  let known = new Map<string, string>();
  return async (processes: readonly Found[]): Promise<Map<number, string>> => {
    const names = parsePasswd(readOrNull(() => readFileSync(passwdPath, 'utf8')) ?? '');
    const kept = new Map<string, string>();
    const entries = await mapInSlices(processes, (process): [number, string] | null => {
      const key = `${process.pid} ${process.startedAt?.getTime()}`;
      const uid = (isSettled(process) && known.get(key)) || readUid(`${procFolder}/${process.pid}/status`);
      if (uid === undefined) return null;
      kept.set(key, uid);
      return [process.pid, names.get(uid) ?? uid];
    });
    known = kept;
    return new Map(entries);
  };
};

/** Names of users by id, from the content of /etc/passwd; the first name of an id counts. */
export const parsePasswd = (content: string): Map<string, string> => {
  const users = content.split('\n').map((line) => line.split(':'));
  return new Map(users.reverse().flatMap(([name, , uid]): [string, string][] => (name && uid ? [[uid, name]] : [])));
};

const isSettled = ({ startedAt }: Found): boolean =>
  startedAt !== null && Date.now() - startedAt.getTime() > settledAfterMs;

/** The effective user id, or undefined if the process has ended. */
const readUid = (path: string): string | undefined =>
  /^Uid:\s+\d+\s+(\d+)/m.exec(readKernelFile(path)?.toString('latin1') ?? '')?.[1];
