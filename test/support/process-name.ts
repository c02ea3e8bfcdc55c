import { readFileSync } from 'node:fs';

/** The system's name for this process: on Linux the name of its main thread, which newer versions of Node change. */
export const processName = process.platform === 'linux' ? readFileSync('/proc/self/comm', 'utf8').trim() : 'node';
