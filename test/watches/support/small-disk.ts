import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFolder } from '../../support/folder.ts';
import { atEnd, type Scope } from '../../support/scope.ts';

/** Mounts a new file system of a size in MiB, on a loop device if possible. Undefined without root. */
export const mountSmall = (t: Scope, mebibytes: number): string | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  const folder = createFolder(t);
  const [image, mount] = [join(folder, 'image'), join(folder, 'mount')];
  writeFileSync(image, Buffer.alloc(mebibytes * 1024 * 1024));
  mkdirSync(mount);
  try {
    execFileSync('mkfs.ext4', ['-q', '-m', '0', image], { stdio: 'ignore' });
    execFileSync('mount', ['-o', 'loop', image, mount], { stdio: 'ignore' });
  } catch {
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', mount], { stdio: 'ignore' });
    } catch {
      return undefined;
    }
  }
  atEnd(t, () => execFileSync('umount', ['-l', mount]));
  return mount;
};
