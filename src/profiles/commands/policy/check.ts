import { type Condition, parseFilter } from '../language/filter.ts';
import {
  findName,
  parseChoice,
  parseCommandLine,
  parseDate,
  parseInteger,
  parsePattern,
  quote,
  type RawParameter,
  Refusal,
  refuseLonger,
} from '../language/parse.ts';
import { cimClasses, cimClassNames } from './cim-classes.ts';
import { type CommandName, commandNames, type ParsedCommand, policies } from './policy.ts';
import type { CommandPolicy, ParameterPolicy, ValuePolicy } from './policy-shape.ts';

type Value = string | number | true | Date | Condition[];

/** The only function that decides which commands may run. Returns the command with typed values, or the refusal. */
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

/** The given texts by parameter name, as the policy spells it. */
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

/** The value of a parameter, or its list of values; `properties` are those of the class that the command names. */
const toValue = (
  name: string,
  policy: ParameterPolicy,
  texts: readonly string[],
  properties: readonly string[],
): Value | Value[] | Refusal => {
  if (policy.type === 'switch') return texts.length === 0 || new Refusal(`-${name} takes no value`);
  if (texts.length === 0) return new Refusal(`-${name} needs a value`);
  const most = policy.maxValues ?? 1;
  if (texts.length > most) {
    return new Refusal(`-${name} takes at most ${most} ${most === 1 ? 'value' : 'values'}`);
  }
  const values = texts.map((text) => parseValue(text, policy, properties));
  const refused = values.find((value) => value instanceof Refusal);
  if (refused) return new Refusal(`-${name}: ${refused.reason}`);
  return policy.maxValues === undefined ? (values[0] as Value) : (values as Value[]);
};

const parseValue = (
  text: string,
  policy: Exclude<ValuePolicy, { type: 'switch' }>,
  properties: readonly string[],
): Value | Refusal => {
  switch (policy.type) {
    case 'pattern':
      return parsePattern(text, policy.maxLength);
    case 'integer':
      return parseInteger(text, policy.min, policy.max);
    case 'choice':
      return parseChoice(text, policy.values);
    case 'date':
      return parseDate(text);
    case 'property':
      return parseChoice(text, properties);
    case 'filter':
      return refuseLonger(text, policy.maxLength) ?? parseFilter(text, properties);
  }
};
