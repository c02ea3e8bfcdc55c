import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds of processor time that the threads of a process have used. */
export const readCpuMs = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`)
    .map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ', 1)) / 1e6)
    .reduce((sum, ms) => sum + ms, 0);

/** Bytes that a process has read: from files, whether they were in memory or not. */
export const readBytesRead = (pid: number): number => readField(`/proc/${pid}/io`, 'rchar');

/** Bytes of memory that a process holds. */
export const readResidentBytes = (pid: number): number => readField(`/proc/${pid}/status`, 'VmRSS') * 1024;

const readField = (path: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(readFileSync(path, 'utf8'))?.[1]);
