import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds of processor time used by the threads of a process. */
export const readCpuMs = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`)
    .map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ', 1)) / 1e6)
    .reduce((sum, ms) => sum + ms, 0);

/** Bytes that a process has read from files, cached or not. */
export const readBytesRead = (pid: number): number => readField(`/proc/${pid}/io`, 'rchar');

/** Resident memory of a process in bytes. */
export const readResidentBytes = (pid: number): number => readField(`/proc/${pid}/status`, 'VmRSS') * 1024;

const readField = (path: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(readFileSync(path, 'utf8'))?.[1]);
