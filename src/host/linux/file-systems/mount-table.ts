import { readFile } from 'node:fs/promises';

/** A line of /proc/self/mountinfo, see proc_pid_mountinfo(5). */
export interface Mount {
  id: number;
  parentId: number;
  /** `major:minor`; major 0 for file systems without a block device of their own. */
  device: string;
  mountPath: string;
  type: string;
  source: string;
}

/** The visible mounts: those that are covered by a later one are left out. */
export const readVisibleMounts = async (procFolder: string): Promise<Mount[]> =>
  toVisibleMounts(parseMounts(await readFile(`${procFolder}/self/mountinfo`, 'utf8')));

export const parseMounts = (mountinfo: string): Mount[] => mountinfo.split('\n').filter(Boolean).map(parseMount);

/** Keeps the mounts that are not covered by another one, in the order of the table. */
export const toVisibleMounts = (mounts: readonly Mount[]): Mount[] => {
  const ids = new Set(mounts.map(({ id }) => id));
  const isRoot = ({ id, parentId }: Mount): boolean => id === parentId || !ids.has(parentId);
  const childrenOf = new Map<number, Mount[]>();
  for (const mount of mounts.filter((each) => !isRoot(each))) {
    childrenOf.set(mount.parentId, (childrenOf.get(mount.parentId) ?? []).concat(mount));
  }
  const visible = new Set(mounts.filter(isRoot).flatMap((root) => listVisible(root, childrenOf)));
  return mounts.filter((mount) => visible.has(mount));
};

/** Any number of optional fields precede ` - `; the type, source and options follow it. */
const parseMount = (line: string): Mount => {
  const [left = '', right = ''] = line.split(/ - (.*)/s);
  const [id, parentId, device = '', , path = ''] = left.split(' ');
  const [type = '', source = ''] = right.split(' ');
  return {
    id: Number(id),
    parentId: Number(parentId),
    device,
    mountPath: unescapeOctal(path),
    type,
    source: unescapeOctal(source),
  };
};

/** White space and backslashes are written as three octal digits. */
const unescapeOctal = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));

/** A mount on the mount point itself covers all of it; one on a folder covers its siblings below that folder. */
const listVisible = (mount: Mount, childrenOf: ReadonlyMap<number, Mount[]>): Mount[] => {
  const children = childrenOf.get(mount.id) ?? [];
  const cover = children.find(({ mountPath }) => mountPath === mount.mountPath);
  if (cover) return listVisible(cover, childrenOf);
  const paths = new Set(children.map(({ mountPath }) => mountPath));
  const isCovered = ({ mountPath }: Mount): boolean => listFolders(mountPath).some((folder) => paths.has(folder));
  const uncovered = children.filter((child) => !isCovered(child));
  return [mount, ...uncovered.flatMap((child) => listVisible(child, childrenOf))];
};

/** The folders above a path: `/a` and `/a/b` for `/a/b/c`. */
const listFolders = (path: string): string[] =>
  [...path.matchAll(/(?<!^)\//g)].map(({ index }) => path.slice(0, index));
