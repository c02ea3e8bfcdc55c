import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Rotates a file once, as a daily job would. Resolves when the rotation is done. */
export type Rotate = () => Promise<void>;

/**
 * Sets up logrotate for a file, with its configuration and state in `folder`. Rotated files are named FILE.1, FILE.2
 * and so on, newest first.
 */
export const createLogrotate = (folder: string, file: string, directive: string): Rotate => {
  const configuration = join(folder, 'logrotate.conf');
  writeFileSync(configuration, `"${file}" {\n  rotate 1000\n  ${directive}\n}\n`, { mode: 0o600 });
  return async () => {
    await run('logrotate', ['--force', '--state', join(folder, 'logrotate.state'), configuration]);
  };
};
