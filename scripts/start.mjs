import { pathToFileURL } from 'node:url';
import { bundlePath } from './bundle.mjs';
import { prepareProgram } from './prepare.mjs';

/**
 * Stops the program when its parent ends: npm sends SIGTERM to the shell between them, which ends without forwarding
 * the signal. If the program receives the signal itself, no second one must be sent, because it would skip the
 * shutdown.
 */
const stopWithParent = () => {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM');
  }, 250).unref();
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      clearInterval(timer);
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    });
  }
};

if (process.env.npm_lifecycle_event !== undefined) stopWithParent();
await prepareProgram({ orExisting: true });
// Runs in this process, so signals and the exit code are the program's own.
await import(pathToFileURL(bundlePath).href);
