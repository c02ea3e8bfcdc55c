import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../../src/server/package-info.ts';
import { unitFiles } from './units.ts';

const users = ['root:x:0:0::/:/bin/sh', 'messagebus:x:100:100::/:/bin/false', 'nobody:x:65534:65534::/:/bin/false'];
const groups = ['root:x:0:', 'messagebus:x:100:', 'systemd-journal:x:101:', 'nogroup:x:65534:'];
const account = 'signalbox:x:1000:';

/** Symbolic links to units: an enabled unit, a unit with a second name, and a masked unit. */
const links = [
  ['../demo-running.service', 'multi-user.target.wants/demo-running.service'],
  ['demo-running.service', 'demo-alias.service'],
  ['/dev/null', 'demo-masked.service'],
] as const;

/**
 * Creates a folder that systemd can boot from, with its own accounts and units. All programs are those of this machine.
 */
export const createRoot = (folder: string, { withService }: { withService: boolean }): void => {
  const units = join(folder, 'etc', 'systemd', 'system');
  mkdirSync(join(units, 'multi-user.target.wants'), { recursive: true });
  for (const name of ['dev', 'opt', 'proc', 'run', 'srv', 'sys', 'tmp', 'usr', 'var']) mkdirSync(join(folder, name));
  for (const name of ['bin', 'lib', 'lib64', 'sbin']) {
    if (existsSync(`/${name}`)) symlinkSync(`usr/${name}`, join(folder, name));
  }
  copyFileSync('/etc/os-release', join(folder, 'etc', 'os-release'));
  writeFileSync(join(folder, 'etc', 'machine-id'), '');
  writeFileSync(
    join(folder, 'etc', 'passwd'),
    toLines(withService ? [...users, `${account}1000::/:/bin/false`] : users),
  );
  writeFileSync(join(folder, 'etc', 'group'), toLines(withService ? [...groups, account] : groups));
  for (const [name, text] of Object.entries(unitFiles)) {
    if (withService || name !== 'signalbox.service') writeFileSync(join(units, name), text);
  }
  for (const [target, name] of links) symlinkSync(target, join(units, name));
};

/** Packages on this machine that the Debian package needs. */
const packages = ['adduser', 'init-system-helpers', 'libc6', 'libgcc-s1', 'libstdc++6'];

/** Adds the files that dpkg and the scripts of packages need: the list of installed packages, and files of accounts. */
export const addPackages = (folder: string): void => {
  const dpkg = join(folder, 'var', 'lib', 'dpkg');
  for (const name of ['info', 'updates', 'triggers', 'alternatives', 'parts']) {
    mkdirSync(join(dpkg, name), { recursive: true });
  }
  const status = execFileSync('dpkg-query', ['--status', ...packages], { encoding: 'utf8' });
  writeFileSync(join(dpkg, 'status'), status);
  // Without this option dpkg waits for the disk after each file.
  mkdirSync(join(folder, 'etc', 'dpkg'));
  writeFileSync(join(folder, 'etc', 'dpkg', 'dpkg.cfg'), 'force-unsafe-io\n');
  for (const name of ['/etc/adduser.conf', '/etc/deluser.conf', '/etc/login.defs', '/etc/pam.d']) {
    if (existsSync(name)) cpSync(name, join(folder, name), { recursive: true });
  }
  writeFileSync(join(folder, 'etc', 'shadow'), 'root:*:20000:0:99999:7:::\n', { mode: 0o640 });
  writeFileSync(join(folder, 'etc', 'gshadow'), '', { mode: 0o640 });
};

/**
 * Lists the parts of this machine that the container sees read-only: the programs, and this repository with its
 * dependencies. With a folder for changes, the container can write to /usr.
 */
export const listBinds = (changes?: string): string[] => {
  if (changes !== undefined) mkdirSync(changes);
  return [...(changes === undefined ? ['--bind-ro=/usr'] : [`--overlay=/usr:${changes}:/usr`]), ...listReadOnly()];
};

const listReadOnly = (): string[] =>
  [
    `${process.execPath}:/srv/node`,
    // The unit expects the program here. The link to the dependencies may lead out of the repository, so they are
    // placed next to it.
    `${packageRoot}:/opt/signalbox`,
    `${realpathSync(join(packageRoot, 'node_modules'))}:/opt/node_modules`,
  ].map((bind) => `--bind-ro=${bind}`);

const toLines = (lines: readonly string[]): string => `${lines.join('\n')}\n`;
