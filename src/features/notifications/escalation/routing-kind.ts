import Type from 'typebox';
import { needs, openFor } from '../../../auth/access.ts';
import type { SettingKeeper } from '../../../kit/setting-keeper.ts';
import { defineSettingKind, settingFacts, settingOrigin } from '../../../kit/setting-kind.ts';
import type { RuntimeSetting } from '../../../kit/setting-store.ts';
import { defineShape, nullable } from '../../../kit/shape.ts';
import { compileRouting, EscalationRoutingSettings, type RouteIncident } from './routing.ts';

/** Name of the only routing. */
export const routingName = 'routing';

export const ShownRouting = defineShape('EscalationRouting', {
  ...EscalationRoutingSettings.properties,
  default: nullable(Type.String({ examples: ['ops'] }), 'Policy of all other incidents; `null` for none.'),
  origin: Type.Enum([...settingOrigin.enum, 'default'], {
    type: 'string',
    description: '`default`: no routing is set, so incidents have no policy.',
    examples: ['made'],
  }),
  ...settingFacts,
});

export interface KnownRouting {
  name: string;
  settings: EscalationRoutingSettings;
  route: RouteIncident;
  isConfigured: boolean;
  /** Runtime setting. Undefined for the default and for the config file. */
  setting: RuntimeSetting<EscalationRoutingSettings> | undefined;
}

const toRouting = (
  settings: EscalationRoutingSettings,
  isConfigured: boolean,
  setting?: KnownRouting['setting'],
): KnownRouting => ({ name: routingName, settings, route: compileRouting(settings), isConfigured, setting });

/** Routing of a server on which nobody has configured one. */
export const defaultRouting = toRouting({ rules: [], default: null }, false);

/** Kind of runtime setting for the routing. There is only one routing. */
export const routingKind = defineSettingKind<
  EscalationRoutingSettings,
  KnownRouting,
  EscalationRoutingSettings & { name: string }
>({
  name: 'escalation-routing',
  noun: 'Escalation routing',
  path: '/api/escalation-routing',
  params: Type.Object({}),
  shape: ShownRouting,
  reading: openFor('incidents:read'),
  changing: needs('settings:write'),
  limits: { count: 1, plural: 'routings' },
  order: 'name',
  compile: (setting) => toRouting(setting.value, false, setting),
  fromConfig: ({ name: _, ...settings }) => toRouting(settings, true),
  words: { inConfig: () => 'The routing is defined in the config file: edit it there' },
});

export type RoutingKeeper = SettingKeeper<
  EscalationRoutingSettings,
  KnownRouting,
  EscalationRoutingSettings & { name: string }
>;
