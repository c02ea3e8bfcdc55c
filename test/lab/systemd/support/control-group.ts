import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface ControlGroup {
  add(pid: number): void;
  /** Removes the group once it contains no process. */
  remove(): void;
}

/** Creates a control group below the group of this process, so that two containers never share a group. */
export const createControlGroup = (name: string): ControlGroup => {
  const folders = listOwnFolders().map((folder) => join(folder, name));
  for (const folder of folders) mkdirSync(folder);
  return {
    add: (pid) => {
      for (const folder of folders) writeFileSync(join(folder, 'cgroup.procs'), String(pid));
    },
    remove: () => {
      for (const folder of folders) removeFolder(folder);
    },
  };
};

/**
 * Lists the folders of this process in the hierarchies that systemd uses: version 2, and the hierarchy of version 1
 * that is named after systemd.
 */
const listOwnFolders = (): string[] =>
  [...readFileSync('/proc/self/cgroup', 'utf8').matchAll(/^\d+:(|name=systemd):(.*)$/gm)]
    .map(([, hierarchy, path = '']) => join(hierarchy ? '/sys/fs/cgroup/systemd' : unified(), path))
    .filter(existsSync);

const unified = (): string => (existsSync('/sys/fs/cgroup/unified') ? '/sys/fs/cgroup/unified' : '/sys/fs/cgroup');

const removeFolder = (folder: string): void => {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeFolder(join(folder, entry.name));
  }
  rmdirSync(folder);
};
