import { isAccessible } from '../../../../host/programs.ts';
import { allEnded } from '../../execution/child.ts';
import { readChildText } from '../../execution/child-output.ts';
import { CommandFailure } from '../../execution/runner.ts';
import { requireProgram, type SystemPaths } from './programs.ts';

const maxBytes = 32 * 1024 * 1024;
const common = ['--no-pager', '--no-ask-password'];
const asJson = [...common, '--type=service', '--output=json'];

// biome-ignore format: a list of names reads better in lines than in a column
const unitProperties = [
  'Id', 'Description', 'LoadState', 'ActiveState', 'SubState', 'UnitFileState', 'Type', 'CanStop', 'MainPID',
  'User', 'ExecMainCode', 'ExecMainStatus',
] as const;

/** A service unit's properties from `systemctl show`; empty texts if systemd has no value. */
export type Unit = Record<(typeof unitProperties)[number], string>;

/** Every service that is installed or loaded. Rejects with a CommandFailure if systemd does not run. */
export const readUnits = async (paths: SystemPaths, signal: AbortSignal): Promise<Unit[]> => {
  const program = await requireProgram(paths.systemctl, 'Services need systemd: systemctl is not installed');
  if (!(await isAccessible(paths.bootMark))) {
    throw new CommandFailure('Services need systemd, which is not running on this machine');
  }
  const read = (...args: string[]): Promise<string> => readChildText({ program, args, signal, maxBytes });
  const lists = [read('list-unit-files', ...asJson), read('list-units', '--all', ...asJson)];
  const [files = '', units = ''] = await allEnded(lists);
  const loaded = parseUnitList(units);
  const names = [...new Set([...parseUnitFiles(files), ...loaded.keys()])];
  if (names.length === 0) return [];
  const shown = await read('show', ...common, `--property=${unitProperties.join(',')}`, '--', ...names);
  return parseUnitProperties(shown)
    .filter(({ LoadState }) => LoadState !== 'not-found')
    .map((unit) => ({ ...unit, Description: loaded.get(unit.Id) ?? unit.Description }));
};

/** Names from `systemctl list-unit-files`, without templates and aliases. */
const parseUnitFiles = (json: string): string[] =>
  (JSON.parse(json) as { unit_file: string; state: string }[])
    .filter(({ unit_file, state }) => state !== 'alias' && !unit_file.endsWith('@.service'))
    .map(({ unit_file }) => unit_file);

/** Descriptions by name from `systemctl list-units --all`, without units that do not exist. */
const parseUnitList = (json: string): Map<string, string> =>
  new Map(
    (JSON.parse(json) as { unit: string; load: string; description: string }[])
      .filter(({ load }) => load !== 'not-found')
      .map(({ unit, description }) => [unit, description]),
  );

/**
 * Units from `systemctl show`: one line for each property, a blank line between units. Values have no line
 * breaks: systemctl replaces such values by `[unprintable]`.
 */
export const parseUnitProperties = (text: string): Unit[] =>
  text
    .split(/\n{2,}/)
    .map((block) => new Map(block.split('\n').map(toProperty)))
    .filter((properties) => properties.has('Id'))
    .map((properties) => {
      const entries = unitProperties.map((name) => [name, properties.get(name) ?? '']);
      return Object.fromEntries(entries) as Unit;
    });

const toProperty = (line: string): [string, string] => {
  const equals = line.indexOf('=');
  return [line.slice(0, equals), line.slice(equals + 1)];
};
