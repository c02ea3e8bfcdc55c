import { setFlagsFromString } from 'node:v8';

/**
 * Lets the heap grow by 40 % between two full collections, instead of up to fourfold; import this module early. With
 * all settings at their limits, the server keeps 320 MiB resident instead of 600 (`npm run stress -- hostile-settings`)
 * and takes a tenth more processor time. GETs of a task and alerts are as fast as without, within the noise of two
 * runs.
 */
setFlagsFromString('--heap-growing-percent=40');
