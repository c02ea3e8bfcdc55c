import Type, { type Static } from 'typebox';
import { needs, openFor } from '../../../auth/access.ts';
import type { SettingKeeper } from '../../../kit/setting-keeper.ts';
import { defineSettingKind, settingFacts, settingOrigin } from '../../../kit/setting-kind.ts';
import type { RuntimeSetting } from '../../../kit/setting-store.ts';
import { defineList, defineShape } from '../../../kit/shape.ts';
import { createSchemaCheck } from '../../../lib/schema-validation.ts';
import { assertDestinationName } from '../settings.ts';
import { type EscalationPolicy, EscalationPolicySettings, stop, toPolicy } from './policy.ts';

/** Name under which lists show the policy derived from the destinations' own rules. */
export const derivedPolicy = 'destinations';

export const mostPolicies = 100;

const PolicyParams = Type.Object({
  policy: Type.String({ description: 'Name of an escalation policy.', examples: ['ops'] }),
});

const { name, steps, repeat, then: following } = EscalationPolicySettings.properties;

/** Request body: the settings. The name is optional and must match the path. */
export const PolicyBody = Type.Object(
  { name: Type.Optional(name), steps, repeat, then: following },
  { title: 'EscalationPolicyBody' },
);

const ShownStep = Type.Object({
  notify: Type.Array(Type.String({ examples: ['rotation:ops'] })),
  wait: Type.String({ examples: ['5 minutes'] }),
});

export const ShownPolicy = defineShape('EscalationPolicy', {
  name,
  origin: Type.Enum([...settingOrigin.enum, derivedPolicy], {
    type: 'string',
    description: `\`config\`: defined in the config file. \`made\`: created while the server was running. \`${derivedPolicy}\`: shows \`after\` of destinations as steps.`,
    examples: ['made'],
  }),
  steps: Type.Array(ShownStep),
  repeat: Type.Integer({ examples: [3] }),
  then: Type.String({ examples: [stop] }),
  unknown: Type.Array(Type.String({ examples: ['person:anna'] }), {
    description: 'Unknown names in the steps, for example of deleted users; these targets are not notified.',
  }),
  notes: Type.Array(Type.String({ examples: ['pager: a reminder every 60 minutes'] }), {
    description: 'Additional rules of the destinations that this policy shows.',
  }),
  ...settingFacts,
});
export type ShownPolicy = Static<typeof ShownPolicy>;

export const PolicyList = defineList('EscalationPolicyList', 'Policies', ShownPolicy, 'Sorted by name.');

type StoredPolicy = Omit<EscalationPolicySettings, 'name'>;

export interface KnownPolicy extends EscalationPolicy {
  settings: EscalationPolicySettings;
  /** Runtime setting. Undefined for a policy from the config file. */
  setting: RuntimeSetting<StoredPolicy> | undefined;
}

const isPolicy = createSchemaCheck(PolicyBody);

export const policyKind = defineSettingKind<StoredPolicy, KnownPolicy, EscalationPolicySettings>({
  name: 'escalation-policy',
  noun: 'Escalation policy',
  path: '/api/escalation-policies',
  params: PolicyParams,
  shape: ShownPolicy,
  versionOf: 'policy',
  reading: openFor('incidents:read'),
  changing: needs('settings:write'),
  limits: { count: mostPolicies, plural: 'escalation policies', withConfigured: true },
  isCaseless: true,
  order: 'name',
  isReserved: (given) => [stop, derivedPolicy].includes(given.toLowerCase()),
  assertName: (given) => assertDestinationName('policy', given),
  compile: (setting) => {
    const settings = { ...setting.value, name: setting.name };
    if (!isPolicy(settings)) throw new Error('this version cannot read the stored policy');
    return toKnown(settings, setting);
  },
  fromConfig: (settings) => toKnown(settings, undefined),
});

const toKnown = (settings: EscalationPolicySettings, setting: KnownPolicy['setting']): KnownPolicy => ({
  ...toPolicy(settings),
  settings,
  setting,
});

export type PolicyKeeper = SettingKeeper<StoredPolicy, KnownPolicy, EscalationPolicySettings>;
