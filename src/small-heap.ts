import { setFlagsFromString } from 'node:v8';

/**
 * Lets the heap grow by 40 % between two full collections, instead of up to fourfold; import this module early. A server
 * whose settings are all full has 320 MiB resident with it, and 600 without (`npm run stress -- hostile-settings`); it
 * takes a tenth more processor time then. GETs of a task and alerts are as fast as before, within the noise of two runs.
 */
setFlagsFromString('--heap-growing-percent=40');
