import Type, { type Static } from 'typebox';
import type { CheckId } from '../../kit/availability.ts';
import { findTimeZone } from '../../lib/time-zone.ts';
import { languages } from './words.ts';

/** Maximum number of checks on a page without bars of days, and on a page with bars. */
const maxChecks = 1000;
export const maxBars = 100;

/** Schema options for single-line strings. */
const line = { minLength: 1, pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$' };

const name = Type.String({ minLength: 1, maxLength: 200, examples: ['shop'] });

const PageCheck = Type.Object(
  {
    name: Type.String({ ...line, maxLength: 100, description: 'Name shown on the page.', examples: ['Shop'] }),
    watch: Type.Optional(Type.String({ ...name, description: 'Name of a watch.' })),
    heartbeat: Type.Optional(Type.String({ ...name, description: 'Name of a heartbeat.', examples: ['backup'] })),
    host: Type.Optional(Type.String({ ...name, description: 'Name of a host.', examples: ['web-1'] })),
  },
  { additionalProperties: false, title: 'StatusPageCheck' },
);
type PageCheck = Static<typeof PageCheck>;

const PageGroup = Type.Object(
  {
    name: Type.String({ ...line, maxLength: 100, description: 'Heading shown on the page.', examples: ['Services'] }),
    checks: Type.Array(PageCheck, {
      maxItems: maxChecks,
      description: 'Checks, each with exactly one of `watch`, `heartbeat` and `host`.',
    }),
  },
  { additionalProperties: false, title: 'StatusPageGroup' },
);

const Colour = Type.String({ pattern: '^#[0-9a-fA-F]{6}$', examples: ['#0a6a50'] });

/** Settings of a page, except its name. */
export const pageSettings = {
  title: Type.String({ ...line, maxLength: 100, examples: ['Example status'] }),
  groups: Type.Array(PageGroup, { maxItems: 100, description: 'Groups of checks, in the order of the page.' }),
  logo: Type.Optional(
    Type.String({
      maxLength: 100_000,
      pattern: '^data:image/(?:png|jpeg|webp|svg\\+xml);base64,[A-Za-z0-9+/]+={0,2}$',
      description: 'Image as a data URL: PNG, JPEG, WebP or SVG in Base64.',
      examples: ['data:image/png;base64,iVBORw0KGgo='],
    }),
  ),
  colours: Type.Optional(
    Type.Object(
      { accent: Colour, accentDark: Type.Optional(Colour) },
      { additionalProperties: false, description: 'Colour of lines and buttons, for light and dark screens.' },
    ),
  ),
  language: Type.Optional(
    Type.Enum(languages, { type: 'string', description: 'Language of the page; English by default.' }),
  ),
  timeZone: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'Time zone of days and times; by default the time zone of the server.',
      examples: ['Europe/Berlin'],
    }),
  ),
  access: Type.Optional(
    Type.Enum(['open', 'login'], {
      type: 'string',
      description:
        '`open`, the default: everyone can read the page. `login`: readers need a token or key that can read incidents.',
    }),
  ),
};

const PageValues = Type.Object(pageSettings);
/** Stored form of a page. */
export type PageValues = Static<typeof PageValues>;

export const pageNamePattern = '^[a-z0-9][a-z0-9-]{0,62}$';

export const pageName = Type.String({
  pattern: pageNamePattern,
  description: 'Name in the address: up to 63 lower-case letters, digits and "-".',
  examples: ['main'],
});

/** Page in the config file. */
export const StatusPageSettings = Type.Object(
  { name: pageName, ...pageSettings },
  { additionalProperties: false, title: 'StatusPageSettings' },
);
export type StatusPageSettings = Static<typeof StatusPageSettings>;

export const statusPageSettings = {
  statusPages: Type.Array(StatusPageSettings, {
    default: [],
    maxItems: 50,
    description: 'Status pages, in addition to those created at run time; see docs/guides/status-pages.',
  }),
};

/** Returns the id of the check that a page shows. */
export const toCheckId = ({ watch, heartbeat, host }: PageCheck): CheckId =>
  watch !== undefined ? `watch:${watch}` : heartbeat !== undefined ? `heartbeat:${heartbeat}` : `host:${host}`;

/** Returns the problem with settings that match the schema, as a clause. */
export const findPageProblem = ({ groups, timeZone }: PageValues): string | undefined => {
  if (timeZone !== undefined && findTimeZone(timeZone) === undefined) {
    return 'timeZone must be a name such as Europe/Berlin';
  }
  const checks = groups.flatMap((group) => group.checks);
  if (checks.length > maxChecks) return `groups must not have more than ${maxChecks} checks in all`;
  const wrong = checks.find(({ name: _, ...kinds }) => Object.keys(kinds).length !== 1);
  return wrong && `check ${JSON.stringify(wrong.name)} needs exactly one of watch, heartbeat and host`;
};
