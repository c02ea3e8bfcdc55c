/** Loaded into a server before its own code, with `--expose-gc`: answers each message with what is still in use. */
process.on('message', () => {
  // The first collection lets go of what the second one frees.
  globalThis.gc?.();
  globalThis.gc?.();
  process.send?.(process.memoryUsage());
});
