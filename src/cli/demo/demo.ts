import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { TObject } from 'typebox';
import { print, say } from '../stdio.ts';
import { createNarrator, startReceiver } from './narrator.ts';
import { openStage } from './stage.ts';
import { tellStory, watchIncidents } from './story.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

/**
 * Runs the demonstration until a signal ends it. Then deletes everything that it created and resolves to the exit code.
 * `pace` is a fraction of the normal duration, so that tests can be fast.
 */
export const runDemo = async (schema: TObject, { pace = 1 } = {}): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-demo-'));
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true });
  // Also cleans up if the process ends abruptly.
  process.once('exit', removeFolder);
  const end = new AbortController();
  const ended = new Promise<void>((resolve) => end.signal.addEventListener('abort', () => resolve()));
  const stop = (): void => {
    if (end.signal.aborted) process.exit(1);
    end.abort();
  };
  for (const signal of signals) process.on(signal, stop);
  const closers: (() => Promise<unknown>)[] = [];
  try {
    const narrator = createNarrator();
    const receiver = await startReceiver(narrator);
    closers.unshift(receiver.close);
    const stage = await openStage({ schema, folder, receiver: receiver.url, pace });
    closers.unshift(stage.close);
    print(stage.welcome);
    const pause = (seconds: number): Promise<void> =>
      setTimeout(seconds * 1000 * pace, undefined, { signal: end.signal });
    const running = Promise.all([
      watchIncidents(stage, narrator, end.signal),
      tellStory({ ...stage, narrator, pause, folder, end: end.signal }),
    ]);
    await Promise.race([running, ended]).catch((error: unknown) => {
      if (!end.signal.aborted) throw error;
    });
    return 0;
  } catch (error) {
    say(`the demo has failed: ${(error as Error).message}`);
    return 1;
  } finally {
    end.abort();
    for (const close of closers) await close();
    removeFolder();
    process.off('exit', removeFolder);
    for (const signal of signals) process.off(signal, stop);
    print('\nThe server has stopped, and its folder is deleted.\n');
  }
};
