import { readFileSync } from 'node:fs';

/** Reads the seconds of CPU time of this process and, on Linux, of its children that have ended. */
const readProcessorTime = () => {
  if (process.platform === 'linux') {
    // Fields 14 to 17 of proc_pid_stat(5), in hundredths of a second.
    const ticks = readFileSync('/proc/self/stat', 'latin1').split(') ')[1].split(' ').slice(11, 15);
    return ticks.reduce((sum, each) => sum + Number(each), 0) / 100;
  }
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

export const printProcessorTime = (area) =>
  process.stdout.write(`${readProcessorTime().toFixed(1)} s of CPU time: ${area}\n`);
