import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildProgram, bundlePath } from './bundle.mjs';
import { InstallError, install, root } from './install.mjs';

/**
 * Stops the program when its parent ends, because npm sends SIGTERM to the shell between them, and that shell ends
 * without forwarding the signal. If the program receives the signal itself, no second signal must be sent, because it
 * would skip the shutdown.
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
const isRunnable = existsSync(bundlePath) && existsSync(join(root, 'node_modules'));
try {
  await install();
  await buildProgram();
} catch (error) {
  const isUnwritable = ['EACCES', 'EPERM', 'EROFS', 'ENOSPC'].includes(error.code);
  if (!isUnwritable && !(error instanceof InstallError)) throw error;
  const reason = `cannot ${isUnwritable ? 'write here' : 'install the dependencies'}: ${error.message}`;
  process.stderr.write(`signalbox: ${isRunnable ? 'running the existing build: ' : ''}${reason}\n`);
  if (!isRunnable) process.exit(1);
}
// Runs in this process, so that signals and the exit code are the program's own.
await import(pathToFileURL(bundlePath).href);
