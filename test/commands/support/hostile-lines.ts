import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/server/package-info.ts';

const folder = join(packageRoot, 'test', 'commands', 'hostile-lines');

/** Entry of a file: `line`, followed by `repeat` repeated `times` times, followed by `end`. */
interface Entry {
  line: string;
  repeat?: string;
  times?: number;
  end?: string;
  says: string;
  /** Expected status. Default: 403. */
  status?: number;
}

export interface HostileLine {
  /** Name of the file. */
  group: string;
  line: string;
  /** Text that the error must contain. */
  says: string;
  status: number;
}

/** Returns all lines of all files. */
export const readHostileLines = (): HostileLine[] =>
  readdirSync(folder).flatMap((file) => {
    const entries = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Entry[];
    return entries.map(({ line, repeat = '', times = 0, end = '', says, status = 403 }) => ({
      group: file.replace(/\.json$/, ''),
      line: line + repeat.repeat(times) + end,
      says,
      status,
    }));
  });
