import { readFile } from 'node:fs/promises';
import { arch, hostname, release, version } from 'node:os';
import type { SystemReading } from '../../readings.ts';
import { parseCpuInfo } from '../cpu/cpu-info.ts';
import { parseBootTime } from '../cpu/kernel-stat.ts';
import { readKernelText } from '../kernel-file.ts';
import { parseOsName } from './os-release.ts';
import { countUsers } from './users.ts';

/** Reads `HostReadings.system` from the tree at `root` that holds `etc`, `proc`, `run`, `sys` and `usr`. */
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
    model:
      readKernelText(`${root}/sys/class/dmi/id/product_name`) ??
      readKernelText(`${root}/proc/device-tree/model`),
    hypervisorPresent: parseCpuInfo(await text('/proc/cpuinfo'))[0]?.isGuest ?? null,
    bootedAt: parseBootTime(await text('/proc/stat')),
    userCount: await countUsers(`${root}/run`),
  };
};

/**
 * The domain in the host's name, or in the full name that /etc/hosts gives it. No name server is asked,
 * since an answer could take long.
 */
export const findDomain = (host: string, hostsFile: string): string | null => {
  const names = hostsFile.split('\n').flatMap((line) => line.replace(/#.*/, '').trim().split(/\s+/).slice(1));
  const full = [host, ...names].find((name) =>
    name === host ? host.includes('.') : name.startsWith(`${host}.`),
  );
  return full?.slice(full.indexOf('.') + 1) ?? null;
};
