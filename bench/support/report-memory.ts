/**
 * Preloaded into a server that runs with `--expose-gc`. Answers each message with the memory that is still in use after
 * a collection.
 */
process.on('message', () => {
  // The first collection releases objects that only the second collection frees.
  globalThis.gc?.();
  globalThis.gc?.();
  process.send?.(process.memoryUsage());
});
