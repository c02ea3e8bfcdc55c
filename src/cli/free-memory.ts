/**
 * Frees what nothing refers to any more, at once: what a seed of a million tasks leaves behind is 450 MB, which V8 would
 * keep until it needs them, and look through at each of its small collections (2.2 ms instead of 0.9).
 */
export const freeMemory = async (): Promise<void> => {
  // Loaded where it is needed: each start would pay for it.
  const { Session } = await import('node:inspector/promises');
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.collectGarbage');
  session.disconnect();
};
