import type { FileSystemKind } from '../../readings.ts';

/** File systems whose files are on another machine, or on the host of a virtual one. */
const network = new Set([
  ...['nfs', 'nfs4', 'cifs', 'smb3', 'smbfs', 'afs', 'ceph', 'coda', 'lustre', 'gpfs', 'beegfs'],
  ...['orangefs', 'pvfs2', 'ncpfs', '9p', 'virtiofs', 'vboxsf', 'prl_fs'],
]);

/** Local file systems that are layers on others or manage their own devices. */
const layered = new Set([...['overlay', 'aufs', 'unionfs', 'ecryptfs', 'zfs', 'btrfs', 'bcachefs', 'ubifs', 'jffs2']]);

/** The kind of a file system without a block device of its own. */
export const toKindOfType = (type: string): FileSystemKind => {
  if (network.has(type) || isUserSpace(type)) return 'network';
  return layered.has(type) ? 'fixed' : 'memory';
};

/** File systems served by a program (FUSE), which may hang like a network. */
export const isUserSpace = (type: string): boolean => /^fuse(?:blk|\..*)?$/.test(type);
