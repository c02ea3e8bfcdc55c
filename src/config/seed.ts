import type { TSchema } from 'typebox';
import {
  createSchemaCheck,
  describeSchemaErrors,
  listSchemaErrors,
  type SchemaFault,
} from '../lib/schema-validation.ts';
import { readJsonFile } from './json-file.ts';
import { suggest } from './names.ts';
import { SettingsError } from './settings-error.ts';

/** Initial records by their keys in the seed file. */
type SeedRecords = Record<string, unknown[]>;

/** Reads a seed file and checks each record. Throws a SettingsError that names every invalid record and field. */
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

/** Maximum number of problems reported per list. Further problems are usually of the same kind. */
const reported = 20;

const limitProblems = (problems: string[], key: string): string[] =>
  problems.length <= reported
    ? problems
    : [...problems.slice(0, reported), `seed file: ${problems.length - reported} more problems in ${key}`];

/**
 * Finds problems in a list of records. Lists errors only for invalid records, because listing takes many times longer
 * than checking.
 */
const findListProblems = (schema: TSchema, records: unknown[], key: string): string[] => {
  const isValid = createSchemaCheck(schema);
  return records.flatMap((record, index) =>
    isValid(record) ? [] : findRecordProblems(schema, record, `${key}[${index}]`),
  );
};

const findRecordProblems = (schema: TSchema, record: unknown, name: string): string[] => {
  const faults = describeSchemaErrors(listSchemaErrors(schema, record), { schema });
  return [...new Set(dropTypesOfEnums(faults).flatMap((fault) => describeFault(fault, schema, name)))];
};

/**
 * Drops redundant faults. A value of the wrong type is never one of the allowed values, so the message that lists these
 * values suffices.
 */
const dropTypesOfEnums = (faults: SchemaFault[]): SchemaFault[] => {
  const listed = faults.flatMap(({ keyword, path }) => (keyword === 'enum' ? path.join('.') : []));
  return faults.filter(({ keyword, path }) => keyword !== 'type' || !listed.includes(path.join('.')));
};

const describeFault = ({ keyword, path, clause, members }: SchemaFault, schema: TSchema, name: string): string[] => {
  if (keyword === 'required') return members.map((field) => `seed record ${name}.${field} is missing`);
  if (keyword === 'additionalProperties') {
    const fields = Object.keys((schema as { properties?: object }).properties ?? {});
    return members.map(
      (field) => `seed record ${name} has no field ${JSON.stringify(field)}${suggest(field, fields, '"')}`,
    );
  }
  return [`seed record ${[name, ...path].join('.')} ${clause}`];
};
