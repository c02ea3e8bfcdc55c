import { readFileSync } from 'node:fs';

/** The fields of /proc/PID/stat, see proc_pid_stat(5); times in clock ticks. */
export interface ProcessStat {
  /** The name as bytes: any byte but NUL may be in it, and the kernel cuts it at 15. */
  name: Buffer;
  parentPid: number;
  session: number;
  userTicks: number;
  kernelTicks: number;
  priority: number;
  threads: number;
  startTicks: number;
  virtualBytes: number;
}

/**
 * Parses the content of /proc/PID/stat. The name is in brackets and may itself contain brackets, spaces and line
 * breaks, so the fields begin after the last bracket.
 */
export const parseProcessStat = (content: Buffer): ProcessStat => {
  const open = content.indexOf('(');
  const close = content.lastIndexOf(')');
  const fields = content.toString('latin1', close + 2).split(' ');
  /** The number at a position of the manual's table, which counts the process id as 1. */
  const at = (position: number): number => Number(fields[position - 3]);
  return {
    name: Buffer.from(content.subarray(open + 1, close)),
    parentPid: at(4),
    session: at(6),
    userTicks: at(14),
    kernelTicks: at(15),
    priority: at(18),
    threads: at(20),
    startTicks: at(22),
    virtualBytes: at(23),
  };
};

/** Resident pages from the content of /proc/PID/statm. */
export const parseResidentPages = (content: Buffer): number => Number(content.toString('latin1').split(' ', 2)[1]);

/**
 * Bytes in a page of memory. Node does not report it, but /proc/self/status has this process's size in kB and
 * /proc/self/statm has it in pages.
 */
export const readPageSize = (): number =>
  parsePageSize(readFileSync('/proc/self/status', 'utf8'), readFileSync('/proc/self/statm', 'utf8'));

/** The nearest power of two, since memory may be allocated between the two readings. Throws if they have no size. */
export const parsePageSize = (status: string, statm: string): number => {
  const bytes = Number(/^VmSize:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  const size = 2 ** Math.round(Math.log2(bytes / Number.parseInt(statm, 10)));
  if (!Number.isFinite(size)) throw new Error('/proc does not report the size of a page of memory');
  return size;
};
