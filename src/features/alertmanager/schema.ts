import Type, { type Static } from 'typebox';
import { defineShape, nullable } from '../../kit/shape.ts';

/**
 * Maximum number of matchers, and maximum length in characters of comments and other texts. The length suffices for
 * silence patterns written as expressions.
 */
const maxMatchers = 50;
const maxTextLength = 256;
const maxValueLength = 1024;
const maxCommentLength = 4000;

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
    'Labels of the latest alert; missing `alertname`, `severity` and `instance` come from source, level and host name.',
    {
      alertname: 'DiskFull',
      severity: 'critical',
      instance: 'web-1',
    },
  ),
  annotations: labels('`summary`, `incident` with the number, and `acknowledgedBy`.', {
    summary: 'disk is full',
    incident: '412',
  }),
  startsAt: time('Time at which the incident opened.'),
  updatedAt: time('Time at which the latest alert was received.'),
  endsAt: time('Five minutes from now, because the incident is still open.'),
  fingerprint: text('a1b2c3d4e5f60718', 'Fingerprint of the incident, which never changes.'),
  generatorURL: text('https://grafana.example.org/alerting', 'Link from the sender, or an empty string.'),
  receivers: AlertmanagerReceivers,
  status: defineShape('AlertmanagerAlertStatus', {
    state: Type.Enum(['active', 'suppressed'], { type: 'string', description: '`suppressed`: a silence is active.' }),
    silencedBy: Type.Array(text(id)),
    inhibitedBy: Type.Array(text(id), { description: 'Always empty: inhibited incidents are listed as active.' }),
  }),
});
export type AlertmanagerAlert = Static<typeof AlertmanagerAlert>;
export const AlertmanagerAlerts = Type.Array(AlertmanagerAlert);

export const AlertmanagerAlertGroups = Type.Array(
  defineShape('AlertmanagerAlertGroup', {
    labels: labels('The label `alertname` of all alerts in the group.', { alertname: 'DiskFull' }),
    receiver: AlertmanagerReceiver,
    alerts: AlertmanagerAlerts,
  }),
);

const flag = (description: string) => Type.Enum(['true', 'false'], { type: 'string', default: 'true', description });
const filter = (plural: string) =>
  Type.Optional(
    Type.Array(Type.String({ maxLength: maxTextLength + maxValueLength, examples: ['alertname=~"Disk.*"'] }), {
      maxItems: maxMatchers,
      description: `Only ${plural} that match this matcher: \`=\`, \`!=\`, \`=~\` or \`!~\`. May be repeated.`,
    }),
  );

export const AlertmanagerAlertQuery = Type.Object({
  active: flag('Include alerts without an active silence.'),
  silenced: flag('Include alerts with an active silence.'),
  inhibited: flag('Has no effect.'),
  unprocessed: flag('Has no effect.'),
  filter: filter('alerts'),
  receiver: Type.Optional(
    Type.String({
      maxLength: maxValueLength,
      description: 'Regular expression for receivers; the only receiver is `signalbox`.',
    }),
  ),
});
export type AlertmanagerAlertQuery = Static<typeof AlertmanagerAlertQuery>;

export const AlertmanagerSilenceQuery = Type.Object({ filter: filter('silences with matchers') });

const given = {
  startsAt: time('Start of the silence.'),
  endsAt: time('End of the silence.'),
  createdBy: Type.String({ maxLength: maxTextLength, description: 'Name of the author.', examples: ['anna'] }),
  comment: Type.String({ maxLength: maxCommentLength, examples: ['the disk is being replaced'] }),
};
const matcher = {
  name: Type.String({ minLength: 1, maxLength: maxTextLength, examples: ['alertname'] }),
  value: Type.String({ maxLength: maxValueLength, examples: ['Disk.*'] }),
  isRegex: Type.Boolean({
    examples: [true],
    description: 'True if `value` is an RE2 expression for the whole label value.',
  }),
};

export const AlertmanagerNewSilence = defineShape('AlertmanagerNewSilence', {
  id: Type.Optional(nullable(Type.String({ examples: [id] }), 'Id of the silence to replace.')),
  matchers: Type.Array(
    Type.Object({
      ...matcher,
      isEqual: Type.Optional(
        Type.Boolean({ description: '`false` negates the matcher; `true` by default.', examples: [true] }),
      ),
    }),
    { minItems: 1, maxItems: maxMatchers, description: 'Matchers of the silence; all must match.' },
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
  updatedAt: time('Time of the last change.'),
  startsAt: time('Start of the silence.'),
  endsAt: time('End of the silence.'),
  createdBy: text('anna'),
  comment: text('the disk is being replaced'),
});
export type AlertmanagerSilence = Static<typeof AlertmanagerSilence>;
export const AlertmanagerSilences = Type.Array(AlertmanagerSilence);

export const AlertmanagerSilenceId = defineShape('AlertmanagerSilenceId', { silenceID: text(id) });
/** Refusal as a bare string, the only form that amtool can show. */
export const AlertmanagerRefusal = Type.String({ examples: ['endsAt must be in the future'] });
export const AlertmanagerDone = defineShape('AlertmanagerDone', {});

export const AlertmanagerSilenceParams = Type.Object({
  id: Type.String({ description: 'Id of the silence.', examples: [id] }),
});

export const AlertmanagerStatus = defineShape('AlertmanagerStatus', {
  cluster: defineShape('AlertmanagerCluster', {
    status: Type.Enum(['disabled'], { type: 'string' }),
    name: text(''),
    peers: Type.Array(Type.Object({ name: text(''), address: text('') })),
  }),
  versionInfo: defineShape('AlertmanagerVersion', {
    version: text('1.0.0', 'Version of signalbox.'),
    revision: text(''),
    branch: text(''),
    buildUser: text(''),
    buildDate: text(''),
    goVersion: text(''),
  }),
  config: defineShape('AlertmanagerConfig', {
    original: text('route: { receiver: signalbox }\n', 'Configuration as YAML.'),
  }),
  uptime: time('Start time of the process.'),
});
export type AlertmanagerStatus = Static<typeof AlertmanagerStatus>;
