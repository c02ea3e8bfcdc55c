/**
 * Collects the garbage of startup. V8 would otherwise keep it for a long time: a fifth of the idle memory (row B10 of
 * the bench), or 450 MB after seeding a million tasks.
 */
export const freeMemory = async (): Promise<void> => {
  // Node can be built without the inspector.
  if (!process.features.inspector) return;
  // Imported only when used, because loading it slows down startup.
  const { Session } = await import('node:inspector/promises');
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.collectGarbage');
  session.disconnect();
};
