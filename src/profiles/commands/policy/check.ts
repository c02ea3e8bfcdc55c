import { findName } from '../language/names.ts';
import { parseCommandLine, type RawParameter } from '../language/parse.ts';
import { quote, Refusal } from '../language/refusal.ts';
import { cimClasses, cimClassNames } from './cim-classes.ts';
import { type CommandName, commandNames, type ParsedCommand, policies } from './policy.ts';
import type { CommandPolicy } from './policy-shape.ts';
import { toValue, type Value } from './values.ts';

/** The one place that decides what may run: any text as an allowed command, or why it is none. Never throws. */
export const checkCommand = (line: string): ParsedCommand | Refusal => {
  const name = line.trim().split(/\s/, 1).join();
  if (!isCommandName(name)) {
    return new Refusal(`Command ${quote(name)} is not allowed; allowed are ${commandNames.join(', ')}`);
  }
  const parsed = parseCommandLine(line);
  if (parsed instanceof Refusal) return parsed;
  const policy: CommandPolicy = policies[name];
  const given = nameParameters(parsed.parameters, policy);
  if (given instanceof Refusal) return given;
  const parameters = toParameters(given, policy);
  return parameters instanceof Refusal ? parameters : ({ name, parameters } as ParsedCommand);
};

const isCommandName = (name: string): name is CommandName => commandNames.some((known) => known === name);

/** The texts by the policy's spelling of each parameter's name. */
const nameParameters = (
  parameters: RawParameter[],
  { first, parameters: allowed }: CommandPolicy,
): Map<string, string[]> | Refusal => {
  const given = new Map<string, string[]>();
  for (const { name, values } of parameters) {
    const known = findName(Object.keys(allowed), name ?? first);
    if (!known) return new Refusal(`Parameter ${quote(`-${name}`)} is not allowed`);
    if (given.has(known)) {
      return new Refusal(
        name === undefined ? `Unexpected value ${quote(values.join(','))}` : `-${known} is given twice`,
      );
    }
    given.set(known, values);
  }
  return given;
};

const toParameters = (
  given: Map<string, string[]>,
  { parameters: allowed, exclusive }: CommandPolicy,
): Record<string, Value | Value[]> | Refusal => {
  for (const [one, other] of exclusive) {
    if (given.has(one) && given.has(other)) return new Refusal(`-${one} and -${other} cannot stand together`);
  }
  const properties = findProperties(given.get('ClassName'));
  const parameters: Record<string, Value | Value[]> = {};
  for (const [name, policy] of Object.entries(allowed)) {
    const texts = given.get(name);
    if (!texts && policy.required) return new Refusal(`-${name} is required`);
    const value = texts ? toValue(name, policy, texts, properties) : policy.default;
    if (value instanceof Refusal) return value;
    if (value !== undefined) parameters[name] = value;
  }
  return parameters;
};

const findProperties = ([text = '']: readonly string[] = []): readonly string[] => {
  const name = findName(cimClassNames, text);
  return name ? cimClasses[name].properties : [];
};
