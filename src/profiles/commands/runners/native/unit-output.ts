export const unitProperties = [
  'Id',
  'Description',
  'LoadState',
  'ActiveState',
  'SubState',
  'UnitFileState',
  'Type',
  'CanStop',
  'MainPID',
  'User',
  'ExecMainCode',
  'ExecMainStatus',
] as const;

/** A service unit's properties as `systemctl show` writes them; empty where systemd has no value. */
export type Unit = Record<(typeof unitProperties)[number], string>;

interface UnitFileEntry {
  unit_file: string;
  state: string;
}

interface UnitEntry {
  unit: string;
  load: string;
  description: string;
}

/** Names from `systemctl list-unit-files`, without templates and without aliases of other units. */
export const parseUnitFiles = (json: string): string[] =>
  (JSON.parse(json) as UnitFileEntry[])
    .filter(({ unit_file, state }) => state !== 'alias' && !unit_file.endsWith('@.service'))
    .map(({ unit_file }) => unit_file);

/** Descriptions by name from `systemctl list-units --all`, without units that others only refer to. */
export const parseUnitList = (json: string): Map<string, string> =>
  new Map(
    (JSON.parse(json) as UnitEntry[])
      .filter(({ load }) => load !== 'not-found')
      .map(({ unit, description }) => [unit, description]),
  );

/**
 * Units from `systemctl show`: a line for each property, a blank line between units. A value has no line
 * breaks: systemctl writes `[unprintable]` for one that would.
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
