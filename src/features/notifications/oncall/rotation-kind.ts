import Type, { type Static } from 'typebox';
import { needs, openFor } from '../../../auth/access.ts';
import type { SettingKeeper } from '../../../kit/setting-keeper.ts';
import { defineSettingKind, settingFacts, settingOrigin, toSettingFacts } from '../../../kit/setting-kind.ts';
import type { RuntimeSetting } from '../../../kit/setting-store.ts';
import { defineList, defineShape } from '../../../kit/shape.ts';
import { createSchemaCheck } from '../../../lib/schema-validation.ts';
import { readOwnTimeZone } from '../../../lib/time-zone.ts';
import { assertDestinationName } from '../settings.ts';
import { createDestinationShifts, toPeopleRotation, toRotation } from './create-rotation.ts';
import type { Rotation } from './rotation.ts';
import { type RotationDefinition, type RotationSettings, rotationMembers } from './settings.ts';

/** Rotation from the config file or the runtime settings. */
export interface KnownRotation {
  name: string;
  rotation: Rotation;
  /** Definition. A rotation of destinations has a single layer, in which destinations take the place of people. */
  definition: RotationDefinition;
  /** Runtime setting. Undefined for a rotation from the config file. */
  setting: RuntimeSetting<RotationDefinition> | undefined;
}

const RotationParams = Type.Object({ rotation: Type.String({ description: 'Name of a rotation.' }) });

const ShownRotation = defineShape('Rotation', {
  name: Type.String({ examples: ['ops'] }),
  origin: settingOrigin,
  kind: Type.Enum(['person', 'destination'], {
    type: 'string',
    description: '`destination`: from `members` in the config file; its `people` are destinations.',
  }),
  timeZone: Type.String({ examples: ['Europe/Berlin'] }),
  holidays: Type.Array(Type.String({ examples: ['2036-12-25'] }), {
    description: 'Dates on which the hours of Sunday apply.',
  }),
  layers: rotationMembers.layers,
  ...settingFacts,
});
export type ShownRotation = Static<typeof ShownRotation>;

export const RotationBody = Type.Object(
  {
    name: Type.Optional(Type.String({ examples: ['ops'], description: 'Optional; must equal the name in the path.' })),
    ...rotationMembers,
  },
  { title: 'RotationDefinition' },
);

export const RotationList = defineList(
  'RotationList',
  'Rotations',
  ShownRotation,
  'Rotations of the config file first.',
);

export const toShownRotation = ({ name, rotation, definition, setting }: KnownRotation): ShownRotation => ({
  name,
  origin: setting ? 'made' : 'config',
  kind: rotation.kind,
  timeZone: definition.timeZone ?? readOwnTimeZone(),
  holidays: definition.holidays ?? [],
  layers: definition.layers,
  ...toSettingFacts(setting),
});

const isDefinition = createSchemaCheck(Type.Object(rotationMembers));

/** Compiles a stored rotation. Throws an Error if it is unusable. */
const compile = (setting: RuntimeSetting<RotationDefinition>): KnownRotation => {
  const { name, value } = setting;
  assertDestinationName('rotation', name);
  if (!isDefinition(value))
    throw new Error(
      'layers is missing, or another version stored the rotation in a format that this version cannot read',
    );
  return { name, definition: value, rotation: toPeopleRotation(name, value), setting };
};

const fromConfig = (settings: RotationSettings): KnownRotation => {
  const { name, timeZone, holidays, layers, members = [], handover = '', startsAt } = settings;
  const toFirstHandover = () =>
    new Date(createDestinationShifts({ handover, timeZone, startsAt }).timeOf(0) ?? 0).toISOString();
  const toFormer = () => ({
    people: members,
    handover: { every: handover },
    ...(startsAt !== undefined && { from: toFirstHandover() }),
  });
  const definition = {
    layers: layers ?? [toFormer()],
    ...(timeZone !== undefined && { timeZone }),
    ...(holidays && { holidays }),
  };
  return { name, definition, rotation: toRotation(settings), setting: undefined };
};

export const rotationKind = defineSettingKind<RotationDefinition, KnownRotation, RotationSettings, RotationDefinition>({
  name: 'rotation',
  noun: 'Rotation',
  path: '/api/rotations',
  params: RotationParams,
  shape: ShownRotation,
  reading: openFor('incidents:read'),
  changing: needs('settings:write'),
  limits: { count: 100, plural: 'rotations', withConfigured: true },
  // People type these names.
  isCaseless: true,
  order: 'origin',
  assertName: (name) => assertDestinationName('rotation', name),
  compile,
  fromConfig,
});

export type RotationKeeper = SettingKeeper<RotationDefinition, KnownRotation, RotationSettings, RotationDefinition>;
