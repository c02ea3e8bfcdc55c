import { readdirSync } from 'node:fs';
import { readKernelText } from '../kernel-file.ts';

/** Data caches of one level add up; a cache that several processors share counts once. */
export interface CacheSizes {
  l2CacheKB: number | null;
  l3CacheKB: number | null;
}

interface Cache {
  level: string | null;
  kilobytes: number;
  /** The same for all that share it. */
  sharedBy: string;
}

/** Caches of the given processors (folders /sys/devices/system/cpu/cpuN); null where the kernel lists none. */
export const readCacheSizes = (cpuFolders: readonly string[]): CacheSizes => {
  const caches = cpuFolders.flatMap(listCaches);
  return { l2CacheKB: sumLevel(caches, '2'), l3CacheKB: sumLevel(caches, '3') };
};

const listCaches = (cpuFolder: string): Cache[] =>
  listFolder(`${cpuFolder}/cache`)
    .filter((name) => name.startsWith('index'))
    .map((name) => {
      const folder = `${cpuFolder}/cache/${name}`;
      return {
        level: readKernelText(`${folder}/level`),
        kilobytes: Number.parseInt(readKernelText(`${folder}/size`) ?? '0', 10),
        sharedBy: readKernelText(`${folder}/shared_cpu_list`) ?? folder,
      };
    });

const sumLevel = (caches: readonly Cache[], level: string): number | null => {
  const distinct = new Map(
    caches.filter((cache) => cache.level === level).map(({ sharedBy, kilobytes }) => [sharedBy, kilobytes]),
  );
  return distinct.size === 0 ? null : [...distinct.values()].reduce((sum, size) => sum + size, 0);
};

const listFolder = (path: string): string[] => {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
};
