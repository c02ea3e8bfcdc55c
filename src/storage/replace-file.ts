import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';

/** Replaces a file that only its owner can read; a crash leaves the old or the new content. */
export const replaceFile = (path: string, text: string): void => {
  const unfinished = `${path}.new`;
  const fd = openSync(unfinished, 'w', 0o600);
  try {
    writeFileSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(unfinished, path);
};
