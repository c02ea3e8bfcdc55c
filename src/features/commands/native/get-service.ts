import { allEnded } from '../../../host/child.ts';
import { isAccessible, type SystemPaths } from '../../../host/programs.ts';
import { readChildText, requireProgram } from '../child-output.ts';
import type { CimInstance } from '../cim-classes.ts';
import type { CommandParameters } from '../policy.ts';
import { CommandFailure, type OutputRow, selectMatching } from '../runner.ts';
import { createAnyMatcher } from '../wildcards.ts';

/** Get-Service for systemd units. Throws a CommandFailure if a name without wildcards matches no service. */
export const getService = (units: readonly Unit[], parameters: CommandParameters<'Get-Service'>): OutputRow[] => {
  const isIncluded = parameters.Include ? createAnyMatcher(parameters.Include) : () => true;
  const isExcluded = createAnyMatcher(parameters.Exclude ?? []);
  const refuse = (noun: string) => (name: string) => `Cannot find any service with ${noun} '${name}'.`;
  const named = selectMatching(units.map(toService), 'Name', parameters.Name, refuse('service name'));
  return selectMatching(named, 'DisplayName', parameters.DisplayName, refuse('display name'))
    .filter(({ Name }) => isIncluded(Name) && !isExcluded(Name))
    .sort((a, b) => (a.Name < b.Name ? -1 : 1));
};

/**
 * Converts a systemd service to the form of Get-CimInstance. StartName is the user. A unit without `User=` runs as
 * root.
 */
export const toServiceInstance = (unit: Unit): CimInstance<'Win32_Service'> => {
  const { Name, DisplayName, Status, StartType, ExitCode } = toService(unit);
  return {
    Name,
    DisplayName,
    Description: DisplayName,
    State: Status.replace('Pending', ' Pending'),
    StartMode: StartType === 'Automatic' ? 'Auto' : StartType,
    Status: unit.ActiveState === 'failed' ? 'Error' : 'OK',
    StartName: unit.User || 'root',
    ProcessId: Number(unit.MainPID) || null,
    ExitCode,
    Started: Status === 'Running',
  };
};

const toService = (unit: Unit) => {
  // All other states count as Stopped, including inactive and failed. SubState shows the difference.
  const Status = serviceStatuses[unit.ActiveState] ?? 'Stopped';
  return {
    Name: unit.Id.replace(/\.service$/, ''),
    DisplayName: unit.Description,
    Status,
    StartType: toStartType(unit),
    ServiceType: unit.Type || null,
    CanStop: unit.CanStop === 'yes' && Status === 'Running',
    MachineName: '.',
    SubState: unit.SubState || null,
    ExitCode: toExitCode(unit),
  };
};

type ServiceStatus = 'Running' | 'Stopped' | 'StartPending' | 'StopPending';
type StartType = 'Automatic' | 'Manual' | 'Disabled';

const serviceStatuses: Record<string, ServiceStatus> = {
  active: 'Running',
  reloading: 'Running',
  refreshing: 'Running',
  activating: 'StartPending',
  deactivating: 'StopPending',
};

const startTypes: Record<string, StartType> = {
  enabled: 'Automatic',
  'enabled-runtime': 'Automatic',
  masked: 'Disabled',
  'masked-runtime': 'Disabled',
};

/**
 * Returns the start type. Null without a unit file. On Windows, a Disabled service cannot be started at all, like a
 * masked unit. A unit that systemd calls disabled can still be started, so its start type is Manual.
 */
const toStartType = ({ UnitFileState }: Unit): StartType | null =>
  UnitFileState === '' ? null : (startTypes[UnitFileState] ?? 'Manual');

/**
 * Returns the exit code of the last run of the main process, or 128 plus the signal that ended it. Null if the process
 * has never exited.
 */
const toExitCode = ({ ExecMainCode, ExecMainStatus }: Unit): number | null => {
  if (ExecMainCode === '' || ExecMainCode === '0') return null;
  const status = Number(ExecMainStatus);
  return ExecMainCode === '1' ? status : 128 + status;
};

const maxBytes = 32 * 1024 * 1024;
const common = ['--no-pager', '--no-ask-password'];
const asJson = [...common, '--type=service', '--output=json'];

// biome-ignore format: a list of names reads better in lines than in a column
const unitProperties = [
  'Id', 'Description', 'LoadState', 'ActiveState', 'SubState', 'UnitFileState', 'Type', 'CanStop', 'MainPID',
  'User', 'ExecMainCode', 'ExecMainStatus',
] as const;

/** Properties of a service unit from `systemctl show`. Properties without a value are empty strings. */
export type Unit = Record<(typeof unitProperties)[number], string>;

/** Lists every service that is installed or loaded. Rejects with a CommandFailure if systemd is not running. */
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

/** Parses names from `systemctl list-unit-files`. Leaves out templates and aliases. */
const parseUnitFiles = (json: string): string[] =>
  (JSON.parse(json) as { unit_file: string; state: string }[])
    .filter(({ unit_file, state }) => state !== 'alias' && !unit_file.endsWith('@.service'))
    .map(({ unit_file }) => unit_file);

/** Parses descriptions by name from `systemctl list-units --all`. Leaves out units that do not exist. */
const parseUnitList = (json: string): Map<string, string> =>
  new Map(
    (JSON.parse(json) as { unit: string; load: string; description: string }[])
      .filter(({ load }) => load !== 'not-found')
      .map(({ unit, description }) => [unit, description]),
  );

/**
 * Parses units from `systemctl show`. It prints one line per property and a blank line between units. Values contain no
 * line breaks, because systemctl replaces such values with `[unprintable]`.
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
