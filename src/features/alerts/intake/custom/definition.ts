import Type, { type Static, type TObject } from 'typebox';
import { HttpError } from '../../../../http/errors.ts';
import { formats } from '../body.ts';
import { plainTextName } from '../format.ts';

/** Maximum number of custom formats, counting both the config file and runtime settings. */
export const maxFormats = 100;

const namePattern = '^[a-z0-9][a-z0-9-]{0,63}$';

/** Maximum length in characters of a string in a definition. */
const maxTextLength = 2000;

const template = (example: string, description: string) =>
  Type.String({ minLength: 1, maxLength: maxTextLength, examples: [example], description });

const Names = Type.Record(Type.String(), Type.String({ examples: ['ERROR'] }), { maxProperties: 100 });

/** Creates the schema of a string, or of a pointer with a name for each of its values. */
const choice = (example: string, description: string) =>
  Type.Union([template(example, description), Type.Record(Type.String(), Names, { maxProperties: 1 })], {
    description,
  });

const Plain = Type.Union([
  Type.String({ maxLength: maxTextLength, examples: ['pipeline'] }),
  Type.Number({ examples: [1] }),
  Type.Boolean({ examples: [true] }),
]);

const fields = {
  match: Type.Optional(
    Type.Record(Type.String(), Type.Union([Plain, Type.Array(Plain, { maxItems: 32 })]), {
      maxProperties: 16,
      description:
        'Values that a body must have, by pointer; a list allows any of its values. Requests with other values get 400.',
    }),
  ),
  each: Type.Optional(
    template(
      '/alerts',
      'Pointer to the list of alerts; other pointers then start at each alert, and `#/…` starts at the body.',
    ),
  ),
  message: template('{/title}', 'Message; `{/pointer}` (RFC 6901) is replaced with a value of the body.'),
  source: Type.Optional(template('gitlab/{/project/name}', 'Source; by default the name of the format.')),
  level: Type.Optional(
    choice('ERROR', 'A string, or `{"/pointer": {"value": "ERROR", "*": "INFO"}}`. The default is WARNING.'),
  ),
  status: Type.Optional(
    choice('firing', '`firing` or `resolved`, in the same form as `level`. The default is `firing`.'),
  ),
  key: Type.Optional(
    template('{/id}', 'Key of the problem: a resolved alert resolves the firing alerts with its key.'),
  ),
  hostname: Type.Optional(template('{/host}', 'Host name; by default `unknown`.')),
  link: Type.Optional(template('{/url}', 'An http or https URL; any other value is dropped.')),
  labels: Type.Optional(
    Type.Union(
      [
        template('/labels', 'Pointer to an object.'),
        Type.Record(Type.String(), template('{/team}', 'A string.'), { maxProperties: 64 }),
      ],
      { description: 'Labels by name, or a pointer to an object that contains them.' },
    ),
  ),
};

/** Custom format as defined in a request. */
export const FormatDefinition = Type.Object(fields, { title: 'IntakeFormatDefinition' });
export type FormatDefinition = Static<typeof FormatDefinition>;

export const FormatName = Type.String({
  pattern: namePattern,
  examples: ['gitlab'],
  description: 'Up to 64 lower-case letters, digits and `-`.',
});

export const intakeSettings = {
  intake: Type.Array(Type.Object({ name: FormatName, ...fields }, { additionalProperties: false }), {
    default: [],
    maxItems: maxFormats,
    description: 'Custom formats, which map the body of `POST /api/alert/NAME` to alerts.',
  }),
};
export type IntakeSettings = Static<TObject<typeof intakeSettings>>;

/** True if the path for the name belongs to a built-in route. */
export const isTaken = (name: string): boolean =>
  name === 'auto' || name === 'native' || name === plainTextName || formats.some((format) => format.name === name);

/** @throws HttpError if the name is invalid */
export const assertFormatName = (name: string): void => {
  if (new RegExp(namePattern).test(name)) return;
  throw new HttpError(
    'invalid',
    'The name of a format must consist of up to 64 lower-case letters, digits and "-", and begin with a letter or digit',
  );
};
