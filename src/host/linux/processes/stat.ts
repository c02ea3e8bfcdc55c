/** What one /proc/PID/stat says; times in clock ticks, see proc_pid_stat(5). */
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
 * Parses the content of /proc/PID/stat. The name stands in brackets and may itself hold brackets, spaces
 * and line breaks, so the fields begin after the last bracket: the kernel writes none behind the name.
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
export const parseResidentPages = (content: Buffer): number =>
  Number(content.toString('latin1').split(' ', 2)[1]);
