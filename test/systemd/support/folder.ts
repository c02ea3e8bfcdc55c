import { copyFileSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/app/package-info.ts';
import { unitFiles } from './units.ts';

const users = ['root:x:0:0::/:/bin/sh', 'messagebus:x:100:100::/:/bin/false', 'nobody:x:65534:65534::/:/bin/false'];
const groups = ['root:x:0:', 'messagebus:x:100:', 'systemd-journal:x:101:', 'nogroup:x:65534:'];
const account = 'signalbox:x:1000:';

/** Symbolic links among the units: one enabled, one with a second name, one masked. */
const links = [
  ['../demo-running.service', 'multi-user.target.wants/demo-running.service'],
  ['demo-running.service', 'demo-alias.service'],
  ['/dev/null', 'demo-masked.service'],
] as const;

/** Makes a folder that systemd can boot from: accounts and units of its own, all programs are this machine's. */
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

/** What the container sees of this machine, read-only: the programs, and this repository with its dependencies. */
export const listBinds = (): string[] =>
  [
    '/usr',
    `${process.execPath}:/srv/node`,
    // Where the unit expects it. The link to the dependencies may lead out of the repository, so they are beside it.
    `${packageRoot}:/opt/signalbox`,
    `${realpathSync(join(packageRoot, 'node_modules'))}:/opt/node_modules`,
  ].map((bind) => `--bind-ro=${bind}`);

const toLines = (lines: readonly string[]): string => `${lines.join('\n')}\n`;
