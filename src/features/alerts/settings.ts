import Type from 'typebox';
import { formats } from './intake/body.ts';
import { intakeSettings } from './intake/custom/definition.ts';
import { alertLogSettings } from './log/settings.ts';

/** Formats with signed requests. */
const signingFormats = formats.filter(({ signature }) => signature).map(({ name }) => name);

/** Settings of the alerts feature with their defaults. */
export const alertSettings = {
  ...intakeSettings,
  intakeSecrets: Type.Optional(
    Type.Object(
      Object.fromEntries(signingFormats.map((name) => [name, Type.Optional(Type.String({ minLength: 1 }))])),
      {
        writeOnly: true,
        additionalProperties: false,
        description: 'Secrets by format; with a secret, unsigned requests of the format are refused.',
      },
    ),
  ),
  ...alertLogSettings,
};
