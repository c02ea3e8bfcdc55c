import Type, { type Static } from 'typebox';
import { needs } from '../../../../auth/access.ts';
import { ErrorBody } from '../../../../http/errors.ts';
import { sendJson } from '../../../../http/json.ts';
import { unknownHost } from '../../../../kit/alert-record.ts';
import { createMadeRoutes, madeFacts, madeOrigin, toMadeFacts } from '../../../../kit/made-routes.ts';
import { assertNameOfPath, assertOwnMembers } from '../../../../kit/own-members.ts';
import { defineList, defineRoute, defineShape, orNull, type Route } from '../../../../kit/route.ts';
import { FormatDefinition, FormatName } from './definition.ts';
import { type FormatKeeper, type KnownFormat, tryFormat } from './keeper.ts';
import { previewAlerts } from './preview.ts';

/** Alerts of a test that are shown. */
const mostShown = 20;

export const FormatParams = Type.Object({
  intakeFormat: Type.String({ description: 'Name of an intake format.', examples: ['gitlab'] }),
});

const GivenFormat = Type.Object(
  {
    name: Type.Optional({ ...FormatName, description: 'If given, the name in the path.' }),
    ...FormatDefinition.properties,
  },
  { title: 'NewIntakeFormat' },
);

const ShownFormat = defineShape('IntakeFormat', {
  name: FormatName,
  origin: madeOrigin,
  definition: FormatDefinition,
  ...madeFacts,
});
type ShownFormat = Static<typeof ShownFormat>;

const FormatList = defineList('IntakeFormatList', 'Formats', ShownFormat, 'By name.');

const Trial = Type.Object(
  {
    body: Type.Unknown({
      description: 'What the sender sends: an object or a list.',
      examples: [{ text: 'It failed' }],
    }),
    definition: Type.Optional(FormatDefinition),
  },
  { title: 'IntakeTrial' },
);

const text = (example: string) => Type.String({ examples: [example] });

const Preview = defineShape('IntakePreview', {
  count: Type.Integer({ description: 'Alerts in the body.', examples: [1] }),
  data: Type.Array(
    defineShape('PreviewedAlert', {
      source: text('gitlab/shop'),
      level: text('ERROR'),
      message: text('The pipeline failed'),
      hostname: text(unknownHost),
      status: text('firing'),
      key: orNull(text('shop'), 'What it is about.'),
      labels: Type.Record(Type.String(), text('main')),
      link: orNull(text('https://gitlab.example.org/shop/7'), 'Where its sender shows it.'),
    }),
    { description: `The first ${mostShown}.` },
  ),
});

const kind = {
  path: '/api/intake-formats',
  params: FormatParams,
  shape: ShownFormat,
  noun: 'format',
  reading: needs('settings:read'),
  changing: needs('settings:write'),
};
const { list, read, put, remove } = createMadeRoutes<ShownFormat>(kind);

/** Custom formats are listed, tested, and, where settings can be made at run time, made, changed and deleted. */
export const createCustomFormatRoutes = (keeper: FormatKeeper, clock: () => Date): Route[] => [
  list(
    { operationId: 'listIntakeFormats', summary: 'List intake formats of your own', response: FormatList },
    () => keeper.list(),
    toShown,
  ),
  read({ operationId: 'getIntakeFormat', summary: 'One intake format of your own' }, (name) =>
    toShown(keeper.require(name)),
  ),
  createTestRoute(keeper, clock),
  ...(keeper.isChangeable ? createChangingRoutes(keeper) : []),
];

const createChangingRoutes = (keeper: FormatKeeper): Route[] => [
  put(
    { operationId: 'putIntakeFormat', summary: 'Create or replace an intake format', body: GivenFormat },
    (name) => keeper.find(name) !== undefined,
    async (path, given, { by, expected }) => {
      assertOwnMembers(given, GivenFormat);
      const { name = path, ...definition } = given;
      assertNameOfPath(name, path);
      return toShown(await keeper.put(path, definition, by, expected));
    },
  ),
  remove(
    { operationId: 'deleteIntakeFormat', summary: 'Delete an intake format, whose path is 404 from then on' },
    async (name, { by, expected }) => {
      const known = keeper.require(name);
      await keeper.delete(name, by, expected);
      return toShown(known);
    },
  ),
];

const createTestRoute = (keeper: FormatKeeper, clock: () => Date): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/intake-formats/:intakeFormat/test',
    ...needs('settings:write'),
    summary: 'Show what a body would be stored as, storing nothing',
    schema: {
      operationId: 'testIntakeFormat',
      params: FormatParams,
      body: Trial,
      response: { 200: Preview, 404: ErrorBody },
    },
    handler: async (request, reply) => {
      const { body, definition } = request.body;
      const { intakeFormat: name } = request.params;
      assertOwnMembers(request.body, Trial);
      const format = definition ? tryFormat(name, definition) : keeper.require(name).format;
      const alerts = previewAlerts(format, body, clock());
      return sendJson(reply, { count: alerts.length, data: alerts.slice(0, mostShown) });
    },
  });

const toShown = ({ name, definition, made }: KnownFormat): ShownFormat => ({
  name,
  origin: made ? 'made' : 'config',
  definition,
  ...toMadeFacts(made),
});
