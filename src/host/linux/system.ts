import { readdir, readFile } from 'node:fs/promises';
import { arch, endianness, hostname, release, version } from 'node:os';
import type { SystemReading } from '../readings.ts';
import { createSharedReading } from '../sampler.ts';
import { parseBootTime } from './counters.ts';
import { parseCpuInfo } from './cpu.ts';
import { readKernelText } from './kernel-file.ts';

/** What is the same as long as nobody installs another system or renames the machine. */
const constantMaxAgeMs = 60_000;

/** Reads `HostReadings.system` from the tree at `root`, which contains `etc`, `proc`, `run`, `sys` and `usr`. */
export const createSystemReader = (root: string): (() => Promise<SystemReading>) => {
  const readConstant = createSharedReading(() => readMachine(root), constantMaxAgeMs);
  return async () => ({
    ...(await readConstant()),
    bootedAt: parseBootTime(await readText(`${root}/proc/stat`)),
    userCount: await countUsers(`${root}/run`),
  });
};

const readMachine = async (root: string): Promise<Omit<SystemReading, 'bootedAt' | 'userCount'>> => {
  const osRelease = (await readText(`${root}/etc/os-release`)) || (await readText(`${root}/usr/lib/os-release`));
  return {
    hostname: hostname(),
    domain: findDomain(hostname(), await readText(`${root}/etc/hosts`)),
    osName: parseOsName(osRelease),
    osVersion: release(),
    osBuild: version(),
    architecture: arch(),
    manufacturer: readKernelText(`${root}/sys/class/dmi/id/sys_vendor`),
    model: readKernelText(`${root}/sys/class/dmi/id/product_name`) ?? readKernelText(`${root}/proc/device-tree/model`),
    hypervisorPresent: parseCpuInfo(await readText(`${root}/proc/cpuinfo`))[0]?.isGuest ?? null,
  };
};

const readText = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');

/**
 * The domain in the host name, or in its full name in /etc/hosts. Name servers are not queried, because they may take
 * long to respond.
 */
export const findDomain = (host: string, hostsFile: string): string | null => {
  const names = hostsFile.split('\n').flatMap((line) => line.replace(/#.*/, '').trim().split(/\s+/).slice(1));
  const full = [host, ...names].find((name) => (name === host ? host.includes('.') : name.startsWith(`${host}.`)));
  return full?.slice(full.indexOf('.') + 1) ?? null;
};

/**
 * PRETTY_NAME from the content of os-release(5), or null. Values may be quoted as in a shell, with a backslash before
 * `"`, `$`, backtick and backslash.
 */
export const parseOsName = (content: string): string | null => {
  const assigned = /^PRETTY_NAME=(.*)$/m.exec(content)?.[1]?.trim() ?? '';
  const [, quoted] = /^(?:"(.*)"|'.*')$/.exec(assigned) ?? [];
  const value = quoted === undefined ? assigned.replace(/^'(.*)'$/, '$1') : quoted.replace(/\\(.)/g, '$1');
  return value || null;
};

/** ut_type of a session of a user, see utmp(5). */
const userProcess = 7;

/** Bytes in a record: 384 with glibc's 32-bit times (x86, POWER), 400 elsewhere (ARM64, RISC-V). */
const recordLengths = [384, 400];

/** Sessions of logged-in users, from systemd-logind or else utmp; null without both. */
export const countUsers = async (runFolder: string): Promise<number | null> =>
  (await countLogindSessions(`${runFolder}/systemd/sessions`)) ??
  (await readFile(`${runFolder}/utmp`).then(countUtmpUsers, () => null));

/** Counts the sessions in the content of a utmp file; null if it is damaged. */
export const countUtmpUsers = (content: Buffer): number | null => {
  const length = recordLengths.find((each) => content.length % each === 0);
  if (length === undefined) return null;
  const view = new DataView(content.buffer, content.byteOffset, content.length);
  let users = 0;
  for (let start = 0; start < content.length; start += length) {
    users += view.getInt16(start, endianness() === 'LE') === userProcess ? 1 : 0;
  }
  return users;
};

/** True if a file of /run/systemd/sessions describes a user's session, not a login screen. */
const isUserSession = (content: string): boolean => /^CLASS=user$/m.test(content) && !/^STATE=closing$/m.test(content);

const countLogindSessions = async (folder: string): Promise<number | null> => {
  const names = await readdir(folder).catch(() => null);
  if (names === null) return null;
  // Each session also has a `.ref`, a pipe: reading that would hang.
  const sessions = names.filter((name) => !name.includes('.'));
  const contents = await Promise.all(sessions.map((name) => readText(`${folder}/${name}`)));
  return contents.filter(isUserSession).length;
};
