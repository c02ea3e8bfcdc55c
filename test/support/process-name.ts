import { readFileSync } from 'node:fs';

/**
 * Name that the system shows for this process. On Linux, this is the name of the main thread, and newer versions of
 * Node change that name.
 */
export const processName = process.platform === 'linux' ? readFileSync('/proc/self/comm', 'utf8').trim() : 'node';
