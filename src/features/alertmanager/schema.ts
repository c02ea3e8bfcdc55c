import Type, { type Static } from 'typebox';
import { defineShape, nullable } from '../../kit/route.ts';

/** The most matchers of a silence or a filter, and characters of texts. Patterns of silences, as expressions, fit in values. */
const mostMatchers = 50;
const longestText = 256;
const longestValue = 1024;
const longestComment = 4000;

const id = '019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c56';
const time = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2036-01-31T08:30:00.000Z'] });
const text = (sample: string, description = '') => Type.String({ description, examples: [sample] });
const labels = (description: string, sample: Record<string, string>) =>
  Type.Record(Type.String(), Type.String(), { description, examples: [sample] });

const AlertmanagerReceiver = defineShape('AlertmanagerReceiver', { name: text('signalbox') });
export const AlertmanagerReceivers = Type.Array(AlertmanagerReceiver);

const AlertmanagerAlert = defineShape('AlertmanagerAlert', {
  labels: labels(
    'Of its latest alert; `alertname`, `severity` and `instance` are made of the others where it has none.',
    {
      alertname: 'DiskFull',
      severity: 'critical',
      instance: 'web-1',
    },
  ),
  annotations: labels('`summary`, `incident` with the number, and who has acknowledged it.', {
    summary: 'disk is full',
    incident: '412',
  }),
  startsAt: time('Since when the incident is open.'),
  updatedAt: time('When its latest alert was received.'),
  endsAt: time('In five minutes: it is still open.'),
  fingerprint: text('a1b2c3d4e5f60718', 'The same for one incident.'),
  generatorURL: text('https://grafana.example.org/alerting', 'Where its sender shows it, or empty.'),
  receivers: AlertmanagerReceivers,
  status: defineShape('AlertmanagerAlertStatus', {
    state: Type.Enum(['active', 'suppressed'], { type: 'string', description: '`suppressed`: it is under a silence.' }),
    silencedBy: Type.Array(text(id)),
    inhibitedBy: Type.Array(text(id), { description: 'None: there is no inhibition.' }),
  }),
});
export type AlertmanagerAlert = Static<typeof AlertmanagerAlert>;
export const AlertmanagerAlerts = Type.Array(AlertmanagerAlert);

export const AlertmanagerAlertGroups = Type.Array(
  defineShape('AlertmanagerAlertGroup', {
    labels: labels('The label `alertname` that its alerts have in common.', { alertname: 'DiskFull' }),
    receiver: AlertmanagerReceiver,
    alerts: AlertmanagerAlerts,
  }),
);

const flag = (description: string) => Type.Enum(['true', 'false'], { type: 'string', default: 'true', description });
const filter = (what: string) =>
  Type.Optional(
    Type.Array(Type.String({ maxLength: longestText + longestValue, examples: ['alertname=~"Disk.*"'] }), {
      maxItems: mostMatchers,
      description: `Only ${what} that pass this matcher: \`=\`, \`!=\`, \`=~\` or \`!~\`. Several can be given.`,
    }),
  );

export const AlertmanagerAlertQuery = Type.Object({
  active: flag('Alerts under no silence.'),
  silenced: flag('Alerts under a silence.'),
  inhibited: flag('There are none.'),
  unprocessed: flag('There are none.'),
  filter: filter('alerts'),
  receiver: Type.Optional(
    Type.String({
      maxLength: longestValue,
      description: 'Only alerts of receivers that match: there is one, `signalbox`.',
    }),
  ),
});
export type AlertmanagerAlertQuery = Static<typeof AlertmanagerAlertQuery>;

export const AlertmanagerSilenceQuery = Type.Object({ filter: filter('silences with matchers') });

const given = {
  startsAt: time('From when.'),
  endsAt: time('Until when.'),
  createdBy: Type.String({ maxLength: longestText, description: 'Any name.', examples: ['anna'] }),
  comment: Type.String({ maxLength: longestComment, examples: ['the disk is being replaced'] }),
};
const matcher = {
  name: Type.String({ minLength: 1, maxLength: longestText, examples: ['alertname'] }),
  value: Type.String({ maxLength: longestValue, examples: ['Disk.*'] }),
  isRegex: Type.Boolean({ examples: [true], description: 'An expression of RE2 for the whole value.' }),
};

export const AlertmanagerNewSilence = defineShape('AlertmanagerNewSilence', {
  id: Type.Optional(nullable(Type.String({ examples: [id] }), 'Of the silence that this replaces.')),
  matchers: Type.Array(
    Type.Object({
      ...matcher,
      isEqual: Type.Optional(Type.Boolean({ description: '`true` by default; `false` negates.', examples: [true] })),
    }),
    { minItems: 1, maxItems: mostMatchers, description: 'All must match.' },
  ),
  ...given,
});
export type AlertmanagerNewSilence = Static<typeof AlertmanagerNewSilence>;

export const AlertmanagerSilence = defineShape('AlertmanagerSilence', {
  id: text(id),
  status: defineShape('AlertmanagerSilenceStatus', {
    state: Type.Enum(['active', 'pending', 'expired'], { type: 'string' }),
  }),
  matchers: Type.Array(
    defineShape('AlertmanagerMatcher', {
      name: text('alertname'),
      value: text('Disk.*'),
      isRegex: Type.Boolean({ examples: [true] }),
      isEqual: Type.Boolean({ examples: [true] }),
    }),
  ),
  updatedAt: time('When it was changed last.'),
  startsAt: time('From when.'),
  endsAt: time('Until when.'),
  createdBy: text('anna'),
  comment: text('the disk is being replaced'),
});
export type AlertmanagerSilence = Static<typeof AlertmanagerSilence>;
export const AlertmanagerSilences = Type.Array(AlertmanagerSilence);

export const AlertmanagerSilenceId = defineShape('AlertmanagerSilenceId', { silenceID: text(id) });
/** amtool shows no other form. */
export const AlertmanagerRefusal = Type.String({ examples: ['endsAt must be in the future'] });
export const AlertmanagerDone = defineShape('AlertmanagerDone', {});

export const AlertmanagerSilenceParams = Type.Object({
  id: Type.String({ description: 'Id of a silence.', examples: [id] }),
});

export const AlertmanagerStatus = defineShape('AlertmanagerStatus', {
  cluster: defineShape('AlertmanagerCluster', {
    status: Type.Enum(['disabled'], { type: 'string' }),
    name: text(''),
    peers: Type.Array(Type.Object({ name: text(''), address: text('') })),
  }),
  versionInfo: defineShape('AlertmanagerVersion', {
    version: text('1.0.0', "signalbox's."),
    revision: text(''),
    branch: text(''),
    buildUser: text(''),
    buildDate: text(''),
    goVersion: text(''),
  }),
  config: defineShape('AlertmanagerConfig', { original: text('route: { receiver: signalbox }\n', 'YAML.') }),
  uptime: time('When this process began.'),
});
export type AlertmanagerStatus = Static<typeof AlertmanagerStatus>;
