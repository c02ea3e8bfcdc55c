/** Failing system call, in strace's terms. */
export interface CallFault {
  what: string;
  /** Failing calls, by strace's names. */
  calls: string[];
  effect: string;
  /** True if only calls on the files of the log fail. */
  isOnPaths: boolean;
  /** Index of the failing call in the short form. This call happens while alerts arrive. */
  at: number;
  /** True if nothing can be acknowledged between a refused alert and the end of the fault. */
  isFatal: boolean;
  /** Other failures, without which the calls do not happen. */
  also?: string[];
}

const onPaths = { isOnPaths: true, isFatal: true };
const everywhere = { isOnPaths: false, isFatal: true };
const openings = ['openat', '?open'];
const renames = ['?rename', '?renameat', '?renameat2'];
const removals = ['?unlink', '?unlinkat'];
const looks = ['?stat', '?lstat', '?newfstatat', 'statx'];

/** All system calls of the log, and their failures. The short form uses only the first few. */
export const callFaults: CallFault[] = [
  { what: 'fdatasync: EIO', calls: ['fdatasync'], effect: 'error=EIO', at: 6, ...everywhere },
  { what: 'write: ENOSPC', calls: ['write'], effect: 'error=ENOSPC', at: 5, ...onPaths },
  { what: 'rename: EIO', calls: renames, effect: 'error=EIO', at: 2, ...everywhere },
  { what: 'open: EMFILE', calls: openings, effect: 'error=EMFILE', at: 12, ...onPaths },
  { what: 'open: EIO', calls: openings, effect: 'error=EIO', at: 13, ...onPaths },
  { what: 'write: EROFS', calls: ['write'], effect: 'error=EROFS', at: 4, ...onPaths },
  { what: 'write: 1 byte that never arrives', calls: ['write'], effect: 'retval=1', at: 5, ...onPaths },
  { what: 'fsync of the directory: EIO', calls: ['fsync'], effect: 'error=EIO', at: 4, ...everywhere },
  { what: 'pwrite at the start: EIO', calls: ['pwrite64'], effect: 'error=EIO', at: 1, ...onPaths },
  { what: 'pread at the start: EIO', calls: ['pread64'], effect: 'error=EIO', at: 2, ...onPaths },
  { what: 'stat: EIO', calls: looks, effect: 'error=EIO', at: 9, ...onPaths },
  {
    what: 'ftruncate: EIO, after failed syncs',
    calls: ['ftruncate'],
    effect: 'error=EIO',
    at: 2,
    ...everywhere,
    isFatal: false,
    also: ['fdatasync:error=EIO:when=5+6'],
  },
  {
    what: 'unlink: EIO, after failed syncs',
    calls: removals,
    effect: 'error=EIO',
    at: 1,
    ...onPaths,
    also: ['fdatasync:error=EIO:when=5..8'],
  },
];

/** Failure that makes the server write the state, so that the calls for writing it happen, too. */
const afterFailure = ['fdatasync:error=EIO:when=4'];

/** System calls of the log of tasks, whose segments are large, and of the state file. */
export const taskCallFaults: CallFault[] = [
  { what: 'fdatasync: EIO', calls: ['fdatasync'], effect: 'error=EIO', at: 5, ...everywhere },
  { what: 'write: ENOSPC', calls: ['write'], effect: 'error=ENOSPC', at: 5, ...onPaths },
  {
    what: 'rename: EIO, after a failed sync',
    calls: renames,
    effect: 'error=EIO',
    at: 2,
    ...onPaths,
    also: afterFailure,
  },
  { what: 'open: EIO', calls: openings, effect: 'error=EIO', at: 8, ...onPaths },
  {
    what: 'open: EMFILE, after a failed sync',
    calls: openings,
    effect: 'error=EMFILE',
    at: 10,
    ...onPaths,
    also: afterFailure,
  },
  { what: 'write: 1 byte that never arrives', calls: ['write'], effect: 'retval=1', at: 5, ...onPaths },
  {
    what: 'fsync of the directory: EIO',
    calls: ['fsync'],
    effect: 'error=EIO',
    at: 4,
    ...everywhere,
    also: afterFailure,
  },
  { what: 'pread at the start: EIO', calls: ['pread64'], effect: 'error=EIO', at: 2, ...onPaths },
  { what: 'stat: EIO', calls: looks, effect: 'error=EIO', at: 9, ...onPaths },
  {
    what: 'ftruncate: EIO, after a failed sync',
    calls: ['ftruncate'],
    effect: 'error=EIO',
    at: 2,
    ...everywhere,
    isFatal: false,
    also: afterFailure,
  },
];

/** Number of faults in `npm test`. */
export const shortCount = 4;
