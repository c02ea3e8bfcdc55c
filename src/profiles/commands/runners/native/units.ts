import { readChildText } from '../../execution/child-output.ts';
import { CommandFailure } from '../../execution/runner.ts';
import { findProgram, isAccessible, type SystemPaths } from './programs.ts';
import {
  parseUnitFiles,
  parseUnitList,
  parseUnitProperties,
  type Unit,
  unitProperties,
} from './unit-output.ts';

const maxBytes = 32 * 1024 * 1024;
const common = ['--no-pager', '--no-ask-password'];
const asJson = [...common, '--type=service', '--output=json'];

/**
 * Every service that is installed or loaded, as systemd has it. A CommandFailure says what is missing where
 * the machine does not run systemd.
 */
export const readUnits = async (paths: SystemPaths, signal: AbortSignal): Promise<Unit[]> => {
  const program = await findProgram(paths.systemctl, 'Services need systemd: systemctl is not installed');
  if (!(await isAccessible(paths.bootMark))) {
    throw new CommandFailure('Services need systemd, which does not run on this machine');
  }
  const read = (...args: string[]): Promise<string> => readChildText({ program, args, signal, maxBytes });
  const installed = parseUnitFiles(await read('list-unit-files', ...asJson));
  const loaded = parseUnitList(await read('list-units', '--all', ...asJson));
  const names = [...new Set([...installed, ...loaded.keys()])];
  if (names.length === 0) return [];
  const shown = await read('show', ...common, `--property=${unitProperties.join(',')}`, '--', ...names);
  return parseUnitProperties(shown)
    .filter(({ LoadState }) => LoadState !== 'not-found')
    .map((unit) => ({ ...unit, Description: loaded.get(unit.Id) ?? unit.Description }));
};
