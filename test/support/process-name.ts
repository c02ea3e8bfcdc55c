import { readFileSync } from 'node:fs';

/** The system's name for this process: on Linux, its main thread's name, which newer Node versions change. */
export const processName = process.platform === 'linux' ? readFileSync('/proc/self/comm', 'utf8').trim() : 'node';
