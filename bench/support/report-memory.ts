/** Preloaded into a server run with `--expose-gc`: answers each message with the memory still in use. */
process.on('message', () => {
  // The first collection releases objects that the second one frees.
  globalThis.gc?.();
  globalThis.gc?.();
  process.send?.(process.memoryUsage());
});
