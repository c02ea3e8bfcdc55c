import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Milliseconds of a tick of /proc/PID/stat, on every Linux that Node runs on. */
const tickMs = 10;

/**
 * Milliseconds of processor time, user and system, that a process and its child processes have used, including children
 * that have ended.
 */
export const readCpuMs = (...pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + readTimes(pid) + readCpuMs(...listChildren(pid)), 0);

const readTimes = (pid: number): number => {
  const stat = read(`/proc/${pid}/stat`);
  // The second field, a name, may contain spaces.
  const [user, system, childUser, childSystem] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15);
  return (Number(user) + Number(system) + Number(childUser) + Number(childSystem)) * tickMs || 0;
};

const listChildren = (pid: number): number[] => {
  const threads = existsSync(`/proc/${pid}/task`) ? readdirSync(`/proc/${pid}/task`) : [];
  const texts = threads.map((thread) => read(`/proc/${pid}/task/${thread}/children`));
  return texts.flatMap((text) => text.split(' ').filter(Boolean).map(Number));
};

/** Empty for a process or thread that has ended meanwhile. */
const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

/** Resident memory of a process in MiB. */
export const readResidentMiB = (pid: number): number => readStatus(pid, 'VmRSS') / 1024;

/** A number from /proc/PID/status. */
export const readStatus = (pid: number, name: string): number =>
  Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
