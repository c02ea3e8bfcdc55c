import Type from 'typebox';
import { needs } from '../../../../auth/access.ts';
import { ErrorBody } from '../../../../http/errors.ts';
import { sendJson } from '../../../../http/json.ts';
import { unknownHost } from '../../../../kit/alert-record.ts';
import { assertOwnMembers } from '../../../../kit/own-members.ts';
import { defineRoute, type Route } from '../../../../kit/route.ts';
import { createSettingRoutes } from '../../../../kit/setting-routes.ts';
import { defineList, defineShape, orNull } from '../../../../kit/shape.ts';
import { FormatDefinition, FormatName } from './definition.ts';
import { type FormatKeeper, FormatParams, formatKind, ShownFormat, toShownFormat, tryFormat } from './kind.ts';
import { previewAlerts } from './preview.ts';

/** Maximum number of alerts in a test response. */
const maxShown = 20;

const GivenFormat = Type.Object(
  {
    name: Type.Optional({ ...FormatName, description: 'Optional; must equal the name in the path.' }),
    ...FormatDefinition.properties,
  },
  { title: 'NewIntakeFormat' },
);

const FormatList = defineList('IntakeFormatList', 'Formats', ShownFormat, 'Sorted by name.');

const Trial = Type.Object(
  {
    body: Type.Unknown({
      description: 'Request body of the sender: an object or a list.',
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
      key: orNull(text('shop'), 'Key of the problem.'),
      labels: Type.Record(Type.String(), text('main')),
      link: orNull(text('https://gitlab.example.org/shop/7'), "The sender's page about the alert."),
    }),
    { description: `First ${maxShown} alerts.` },
  ),
});

/** Creates the routes that list, test, create, change and delete custom formats. */
export const createCustomFormatRoutes = (keeper: FormatKeeper, clock: () => Date): Route[] => {
  const { list, read, put, remove } = createSettingRoutes(formatKind, keeper, toShownFormat);
  return [
    list({ operationId: 'listIntakeFormats', summary: 'List custom intake formats', response: FormatList }),
    read({ operationId: 'getIntakeFormat', summary: 'Get a custom intake format' }),
    createTestRoute(keeper, clock),
    put(
      { operationId: 'putIntakeFormat', summary: 'Create or replace an intake format', body: GivenFormat },
      ({ name: _, ...definition }) => definition,
    ),
    remove({
      operationId: 'deleteIntakeFormat',
      summary: 'Delete an intake format; requests to its path then get 404',
    }),
  ];
};

const createTestRoute = (keeper: FormatKeeper, clock: () => Date): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/intake-formats/:intakeFormat/test',
    ...needs('settings:write'),
    summary: 'Preview the alerts of a body without storing them',
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
      return sendJson(reply, { count: alerts.length, data: alerts.slice(0, maxShown) });
    },
  });
