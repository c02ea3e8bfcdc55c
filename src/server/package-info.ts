import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { getRawAsset, isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';
import { type ReadFile, readFrom } from '../http/pages.ts';

/**
 * Folder with package.json, found from the bundle in dist or from compiled modules below that folder. The single
 * executable has no package.json and uses its own folder.
 */
export const packageRoot: string = isSea()
  ? dirname(process.execPath)
  : findPackageRoot(dirname(fileURLToPath(import.meta.url)));

/** Reads one of the program's files: in the single executable from memory, otherwise from the folder of the package. */
export const readProgramFile: ReadFile = isSea() ? readAsset : readFrom(packageRoot);

/** Version of signalbox. */
export const programVersion: string = JSON.parse(String(readProgramFile('package.json'))).version;

function findPackageRoot(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : findPackageRoot(dirname(folder));
}

function readAsset(path: string): Buffer | undefined {
  try {
    return Buffer.from(getRawAsset(path) as ArrayBuffer);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SINGLE_EXECUTABLE_APPLICATION_ASSET_NOT_FOUND') return undefined;
    throw error;
  }
}
