import { executionAsyncResource } from 'node:async_hooks';
import { nextTick } from 'node:process';

const kept = new Set<object>();

/**
 * Keeps the object of one tick for as long as the process runs. If a garbage collection meets no such object, V8
 * forgets their shape and creates each later one by its slow path, which takes a tenth of the time of a small request.
 * To be imported before everything else.
 */
nextTick(() => kept.add(executionAsyncResource()));
