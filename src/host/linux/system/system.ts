import { readFile } from 'node:fs/promises';
import { arch, hostname, release, version } from 'node:os';
import type { MemoryReading, SystemReading } from '../../readings.ts';
import { parseBootTime, parseCpuInfo } from '../cpu/proc-files.ts';
import { readKernelText } from '../kernel-file.ts';
import { countUsers } from './users.ts';

/** Reads `HostReadings.system` from the tree at `root`, which contains `etc`, `proc`, `run`, `sys` and `usr`. */
export const readSystem = async (root: string): Promise<SystemReading> => {
  const text = (path: string): Promise<string> => readFile(`${root}${path}`, 'utf8').catch(() => '');
  const osRelease = (await text('/etc/os-release')) || (await text('/usr/lib/os-release'));
  return {
    hostname: hostname(),
    domain: findDomain(hostname(), await text('/etc/hosts')),
    osName: parseOsName(osRelease),
    osVersion: release(),
    osBuild: version(),
    architecture: arch(),
    manufacturer: readKernelText(`${root}/sys/class/dmi/id/sys_vendor`),
    model: readKernelText(`${root}/sys/class/dmi/id/product_name`) ?? readKernelText(`${root}/proc/device-tree/model`),
    hypervisorPresent: parseCpuInfo(await text('/proc/cpuinfo'))[0]?.isGuest ?? null,
    bootedAt: parseBootTime(await text('/proc/stat')),
    userCount: await countUsers(`${root}/run`),
  };
};

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

export const readMemory = async (procFolder: string): Promise<MemoryReading> =>
  parseMemory(await readFile(`${procFolder}/meminfo`, 'utf8'));

/** Parses the content of /proc/meminfo, whose kB are KiB. */
export const parseMemory = (meminfo: string): MemoryReading => {
  const bytesOf = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(meminfo)?.[1]) * 1024;
  return {
    total: bytesOf('MemTotal'),
    available: bytesOf('MemAvailable'),
    swapTotal: bytesOf('SwapTotal'),
    swapFree: bytesOf('SwapFree'),
  };
};
