import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Value } from 'typebox/value';
import { readJsonFile } from './file.ts';
import { describeError } from './problems.ts';
import { SettingsError } from './settings-error.ts';
import { suggest } from './suggest.ts';

/** Initial records by the keys of the seed file. */
export type SeedRecords = Record<string, unknown[]>;

/** Reads a seed file and checks each record; throws a SettingsError that names every bad record and field. */
export const readSeed = (path: string, schemas: Record<string, TSchema>): SeedRecords => {
  const file = readJsonFile(path, 'seed file');
  const problems: string[] = [];
  const records: SeedRecords = {};
  for (const [key, value] of Object.entries(file)) {
    const schema = Object.hasOwn(schemas, key) ? schemas[key] : undefined;
    if (!schema) {
      problems.push(`seed file ${path}: ${JSON.stringify(key)} is not one of ${Object.keys(schemas).join(', ')}`);
    } else if (!Array.isArray(value)) {
      problems.push(`seed file ${path}: ${key} must be a list`);
    } else {
      problems.push(...limitProblems(findListProblems(schema, value, key), key));
      records[key] = value;
    }
  }
  if (problems.length > 0) throw new SettingsError(problems);
  return records;
};

/** Problems reported per list; further ones are usually of the same kind. */
const reported = 20;

const limitProblems = (problems: string[], key: string): string[] =>
  problems.length <= reported
    ? problems
    : [...problems.slice(0, reported), `seed file: ${problems.length - reported} more problems in ${key}`];

/** Checks each record before listing its errors, which is many times slower. */
const findListProblems = (schema: TSchema, records: unknown[], key: string): string[] => {
  const shape = Compile(schema);
  return records.flatMap((record, index) =>
    shape.Check(record) ? [] : findRecordProblems(schema, record, `${key}[${index}]`),
  );
};

const findRecordProblems = (schema: TSchema, record: unknown, name: string): string[] => [
  ...new Set(dropTypesOfEnums(Value.Errors(schema, record)).flatMap((error) => listFaults(error, schema, name))),
];

/** A value of the wrong type is not among the allowed ones either: the longer message is enough. */
const dropTypesOfEnums = (errors: RecordError[]): RecordError[] => {
  const listed = errors.flatMap(({ keyword, instancePath }) => (keyword === 'enum' ? instancePath : []));
  return errors.filter(({ keyword, instancePath }) => keyword !== 'type' || !listed.includes(instancePath));
};

type RecordError = ReturnType<typeof Value.Errors>[number];

const listFaults = (error: RecordError, schema: TSchema, name: string): string[] => {
  // An unknown field is also reported as additionalProperties.
  if (error.keyword === 'boolean') return [];
  const { requiredProperties, additionalProperties } = error.params as Record<string, string[] | undefined>;
  if (requiredProperties) return requiredProperties.map((field) => `seed record ${name}.${field} is missing`);
  if (additionalProperties) {
    const fields = Object.keys((schema as { properties?: object }).properties ?? {});
    return additionalProperties.map(
      (field) => `seed record ${name} has no field ${JSON.stringify(field)}${suggest(field, fields, '"')}`,
    );
  }
  const field = error.instancePath.slice(1);
  return [`seed record ${name}${field && `.${field}`} ${describeError(error, schema)}`];
};
