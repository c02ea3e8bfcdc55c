import { readFileSync } from 'node:fs';

/** What the system calls this process: on Linux the name of its main thread, which newer versions of Node change. */
export const processName = process.platform === 'linux' ? readFileSync('/proc/self/comm', 'utf8').trim() : 'node';
