import Type, { type Static, type TObject } from 'typebox';
import { HttpError } from '../../../../http/errors.ts';
import { findSeverity, toSeverity } from '../../../../kit/severity.ts';
import { isObject } from '../../../../lib/parse-json.ts';
import { formats } from '../body.ts';
import {
  clean,
  type ForeignAlert,
  type Format,
  plainTextName,
  toHostname,
  toLabels,
  toLink,
  toShortKey,
} from '../format.ts';
import { compilePointer, compileText, isConstant, type Render, type TemplateInput, toPlainText } from './template.ts';

/** How many formats there can be, in the config file and besides. */
export const mostFormats = 100;

const nameForm = '^[a-z0-9][a-z0-9-]{0,63}$';

/** The most characters of a text that a definition has. */
const longestText = 2000;

/** The most characters of a link and of a label that are looked at, and of the text that becomes a key. */
const limits = { link: 8192, label: 1024, key: 65_536 };

const template = (example: string, description: string) =>
  Type.String({ minLength: 1, maxLength: longestText, examples: [example], description });

const Names = Type.Record(Type.String(), Type.String({ examples: ['ERROR'] }), { maxProperties: 100 });

/** A text, or one pointer whose values have a name each. */
const choice = (example: string, description: string) =>
  Type.Union([template(example, description), Type.Record(Type.String(), Names, { maxProperties: 1 })], {
    description,
  });

const Plain = Type.Union([
  Type.String({ maxLength: longestText, examples: ['pipeline'] }),
  Type.Number({ examples: [1] }),
  Type.Boolean({ examples: [true] }),
]);

const fields = {
  match: Type.Optional(
    Type.Record(Type.String(), Type.Union([Plain, Type.Array(Plain, { maxItems: 32 })]), {
      maxProperties: 16,
      description: 'Values that a body must have, by their pointers; of a list, one. Other bodies get 400.',
    }),
  ),
  each: Type.Optional(
    template('/alerts', 'Pointer to the list of alerts; other pointers then begin in each, and `#/…` in the body.'),
  ),
  message: template('{/title}', 'Texts have values of the body as `{/pointer}` (RFC 6901).'),
  source: Type.Optional(template('gitlab/{/project/name}', 'By default the name of the format.')),
  level: Type.Optional(
    choice('ERROR', 'A text, or `{"/pointer": {"value": "ERROR", "*": "INFO"}}`. By default WARNING.'),
  ),
  status: Type.Optional(choice('firing', 'The same with `firing`, which is the default, and `resolved`.')),
  key: Type.Optional(template('{/id}', 'What the alert is about: a resolved one ends those that fire with its key.')),
  hostname: Type.Optional(template('{/host}', 'By default `unknown`.')),
  link: Type.Optional(template('{/url}', 'An http or https URL; others are not kept.')),
  labels: Type.Optional(
    Type.Union(
      [
        template('/labels', 'The pointer of an object.'),
        Type.Record(Type.String(), template('{/team}', 'A text.'), { maxProperties: 64 }),
      ],
      { description: 'Texts by name, or the pointer of an object with them.' },
    ),
  ),
};

/** What a format is, as a request gives it. */
export const FormatDefinition = Type.Object(fields, { title: 'IntakeFormatDefinition' });
export type FormatDefinition = Static<typeof FormatDefinition>;

export const FormatName = Type.String({
  pattern: nameForm,
  examples: ['gitlab'],
  description: 'Up to 64 lower-case letters, digits and `-`.',
});

export const intakeSettings = {
  intake: Type.Array(Type.Object({ name: FormatName, ...fields }, { additionalProperties: false }), {
    default: [],
    maxItems: mostFormats,
    description: 'Formats of your own: what `POST /api/alert/NAME` makes of a body.',
  }),
};
export type IntakeSettings = Static<TObject<typeof intakeSettings>>;

/** What cannot be used in the settings, as clauses. */
export const findIntakeProblems = ({ intake }: IntakeSettings): string[] => {
  const names = intake.map(({ name }) => name);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  return [
    ...twice.map((name) => `intake.${name} is there twice: give each another name`),
    ...intake.flatMap(({ name, ...definition }) => {
      if (isTaken(name)) return [`intake.${name}: signalbox has a format ${name}: choose another name`];
      try {
        compileFormat(name, definition);
        return [];
      } catch (error) {
        return [`intake.${name}.${(error as Error).message}`];
      }
    }),
  ];
};

/** Whether signalbox itself serves the path. */
export const isTaken = (name: string): boolean =>
  name === 'auto' || name === 'native' || name === plainTextName || formats.some((format) => format.name === name);

/** @throws HttpError */
export const assertFormatName = (name: string): void => {
  if (new RegExp(nameForm).test(name)) return;
  throw new HttpError(
    'invalid',
    'The name of a format has up to 64 lower-case letters, digits and "-", and begins with a letter or digit',
  );
};

/** Bodies have no other form than what the pointers find. */
const AnyBody = Type.Unknown();

/** The format that a definition describes. Throws an Error that begins with the member which cannot be used. */
export const compileFormat = (name: string, definition: FormatDefinition): Format => {
  const assertMatches = at('match', () => compileMatch(definition.match ?? {}));
  const { each } = definition;
  const find = each === undefined ? undefined : at('each', () => compilePointer(each));
  const toAlert = compileAlert(name, definition);
  return {
    name,
    summary: `Store alerts in the format ${name}`,
    schema: AnyBody,
    recognizes: () => false,
    *readAlerts(body) {
      if (typeof body !== 'object' || body === null)
        throw new HttpError('invalid', 'The body must be an object or a list');
      assertMatches(body);
      const alerts = find ? find({ body, alert: body }) : [body];
      if (!Array.isArray(alerts)) throw new HttpError('invalid', `${each} must be a list`);
      for (const alert of alerts) yield toAlert({ body, alert });
    },
  };
};

const compileAlert = (name: string, definition: FormatDefinition): ((place: TemplateInput) => ForeignAlert) => {
  const compile = (member: 'message' | 'source' | 'key' | 'hostname' | 'link'): Render => {
    const text = definition[member];
    return text === undefined ? () => '' : at(member, () => compileText(text));
  };
  const message = compile('message');
  const [source, key, hostname, link] = [compile('source'), compile('key'), compile('hostname'), compile('link')];
  const level = at('level', () =>
    compileChoice(definition.level, 'a level such as ERROR', (text) => findSeverity(text) !== undefined),
  );
  const status = at('status', () =>
    compileChoice(definition.status, 'firing or resolved', (text) => text === 'firing' || text === 'resolved'),
  );
  const labels = at('labels', () => compileLabels(definition.labels ?? {}));
  return (place) => {
    const named = clean(source(place, 1024), 256) || name;
    const fingerprint = key(place, limits.key);
    return {
      source: named,
      level: toSeverity(level(place, 64)),
      message: clean(message(place, 16_384), 4096) || named,
      hostname: toHostname(hostname(place, 1024)),
      status: status(place, 64).trim().toLowerCase() === 'resolved' ? 'resolved' : 'firing',
      ...(fingerprint !== '' && { fingerprint: toShortKey(fingerprint) }),
      labels: labels(place),
      link: toLink(link(place, limits.link)),
    };
  };
};

/** Names the member in the message of an Error. */
const at = <T>(member: string, compile: () => T): T => {
  try {
    return compile();
  } catch (error) {
    throw new Error(`${member}: ${(error as Error).message}`);
  }
};

/** Throws an HttpError for a body with other values. */
const compileMatch = (match: NonNullable<FormatDefinition['match']>): ((body: unknown) => void) => {
  const rules = Object.entries(match).map(([pointer, wanted]) => {
    const all: unknown[] = [wanted].flat();
    if (all.length === 0) throw new Error(`${pointer} has no values`);
    return { pointer, all, find: compilePointer(pointer) };
  });
  return (body) => {
    for (const { pointer, all, find } of rules) {
      if (all.includes(find({ body, alert: body }))) continue;
      throw new HttpError('invalid', `${pointer} must be ${all.map((one) => JSON.stringify(one)).join(' or ')}`);
    }
  };
};

const compileChoice = (given: FormatDefinition['level'], noun: string, isKnown: (text: string) => boolean): Render => {
  const assertKnown = (text: string): void => {
    if (!isKnown(text)) throw new Error(`${JSON.stringify(text)} is not ${noun}`);
  };
  if (given === undefined) return () => '';
  if (typeof given === 'string') {
    if (isConstant(given)) assertKnown(given);
    return compileText(given);
  }
  const [[pointer, names] = []] = Object.entries(given);
  if (pointer === undefined || names === undefined)
    throw new Error('give a text, or a pointer with names for its values');
  for (const text of Object.values(names)) assertKnown(text);
  const find = compilePointer(pointer);
  const byValue = new Map(Object.entries(names));
  return (place) => byValue.get(toPlainText(find(place))) ?? byValue.get('*') ?? '';
};

const compileLabels = (
  given: NonNullable<FormatDefinition['labels']>,
): ((place: TemplateInput) => Record<string, string>) => {
  if (typeof given === 'string') {
    const find = compilePointer(given.replace(/^\{(.*)\}$/s, '$1'));
    return (place) => {
      const found = find(place);
      return isObject(found) ? toLabels(found) : {};
    };
  }
  const all = Object.entries(given).map(([name, text]) => [name, at(name, () => compileText(text))] as const);
  return (place) => {
    const texts = all.map(([name, render]) => [name, render(place, limits.label)] as const);
    return toLabels(Object.fromEntries(texts.filter(([, text]) => text !== '')));
  };
};
