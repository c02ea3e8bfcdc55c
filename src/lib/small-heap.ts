import { setFlagsFromString } from 'node:v8';

/**
 * Lets the heap grow by only 40 % between two full collections, instead of up to fourfold. Import this module early.
 * With all settings at their limits, the resident memory of the server is 320 MiB instead of 600 MiB (`npm run stress
 * -- hostile-settings`), and it takes a tenth more CPU time. Requests for a task and for alerts are as fast as
 * without this module, within the noise between two runs.
 */
setFlagsFromString('--heap-growing-percent=40');
