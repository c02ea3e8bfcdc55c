import Type, { type Static } from 'typebox';
import { callerOf } from '../../../../auth/guard.ts';
import { ErrorBody } from '../../../../http/errors.ts';
import { sendJson } from '../../../../http/json.ts';
import { ifMatchHeader, putConditionHeaders, readIfMatch, readPutCondition } from '../../../../http/text-forms.ts';
import { madeFacts, madeOrigin, setMadeVersion, toMadeFacts } from '../../../made-routes.ts';
import { assertNameOfPath, assertOwnMembers } from '../../../own-members.ts';
import { defineList, defineRoute, defineShape, orNull, type Route } from '../../../route.ts';
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
      hostname: text('unknown'),
      status: text('firing'),
      key: orNull(text('shop'), 'What it is about.'),
      labels: Type.Record(Type.String(), text('main')),
      link: orNull(text('https://gitlab.example.org/shop/7'), 'Where its sender shows it.'),
    }),
    { description: `The first ${mostShown}.` },
  ),
});

const withVersion = { ETag: "The format's version, in quotes." };

/** Custom formats are listed, tested, and, where settings can be made at run time, made, changed and deleted. */
export const createCustomFormatRoutes = (keeper: FormatKeeper, clock: () => Date): Route[] => [
  createListRoute(keeper),
  createReadRoute(keeper),
  createTestRoute(keeper, clock),
  ...(keeper.isChangeable ? [createPutRoute(keeper), createRemoveRoute(keeper)] : []),
];

const createListRoute = (keeper: FormatKeeper): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/intake-formats',
    access: 'admin',
    summary: 'List intake formats of your own',
    schema: { operationId: 'listIntakeFormats', response: { 200: FormatList } },
    handler: async (_request, reply) => {
      const data = keeper.list().map(toShown);
      return sendJson(reply, { count: data.length, data });
    },
  });

const createReadRoute = (keeper: FormatKeeper): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/intake-formats/:intakeFormat',
    access: 'admin',
    summary: 'One intake format of your own',
    headers: { response: withVersion },
    schema: { operationId: 'getIntakeFormat', params: FormatParams, response: { 200: ShownFormat, 404: ErrorBody } },
    handler: async ({ params: { intakeFormat } }, reply) => {
      const known = keeper.require(intakeFormat);
      return sendJson(setMadeVersion(reply, known.made), toShown(known));
    },
  });

const createPutRoute = (keeper: FormatKeeper): Route =>
  defineRoute({
    method: 'PUT',
    path: '/api/intake-formats/:intakeFormat',
    access: 'admin',
    summary: 'Create or replace an intake format',
    headers: { request: putConditionHeaders, response: withVersion },
    schema: {
      operationId: 'putIntakeFormat',
      params: FormatParams,
      body: GivenFormat,
      response: { 200: ShownFormat, 201: ShownFormat, 409: ErrorBody, 412: ErrorBody },
    },
    handler: async (request, reply) => {
      const { intakeFormat: format } = request.params;
      const isNew = keeper.find(format) === undefined;
      const expected = readPutCondition(request.headers, isNew);
      assertOwnMembers(request.body, GivenFormat);
      const { name = format, ...definition } = request.body;
      assertNameOfPath(name, format);
      const known = await keeper.put(format, definition, callerOf(request), expected);
      return sendJson(setMadeVersion(reply.code(isNew ? 201 : 200), known.made), toShown(known));
    },
  });

const createRemoveRoute = (keeper: FormatKeeper): Route =>
  defineRoute({
    method: 'DELETE',
    path: '/api/intake-formats/:intakeFormat',
    access: 'admin',
    summary: 'Delete an intake format, whose path is 404 from then on',
    headers: { request: ifMatchHeader },
    schema: {
      operationId: 'deleteIntakeFormat',
      params: FormatParams,
      response: { 200: ShownFormat, 404: ErrorBody, 409: ErrorBody, 412: ErrorBody },
    },
    handler: async (request, reply) => {
      const expected = readIfMatch(request.headers);
      const known = keeper.require(request.params.intakeFormat);
      await keeper.delete(known.name, callerOf(request), expected);
      return sendJson(reply, toShown(known));
    },
  });

const createTestRoute = (keeper: FormatKeeper, clock: () => Date): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/intake-formats/:intakeFormat/test',
    access: 'admin',
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
      if (definition) assertOwnMembers(definition, FormatDefinition, undefined, 'definition.');
      const format = definition ? tryFormat(name, definition) : keeper.require(name).format;
      const alerts = previewAlerts(format, body, clock());
      return sendJson(reply, { count: alerts.length, data: alerts.slice(0, mostShown) });
    },
  });

const toShown = ({ name, definition, made }: KnownFormat): Static<typeof ShownFormat> => ({
  ...{ name, origin: made ? 'made' : 'config', definition },
  ...toMadeFacts(made),
});
