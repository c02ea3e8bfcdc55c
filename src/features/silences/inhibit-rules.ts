import Type, { type Static } from 'typebox';
import { HttpError } from '../../http/errors.ts';
import { parseMatchers } from '../../kit/matcher-text.ts';
import { type InhibitRule, maxPatternLength } from '../../kit/silence-source.ts';
import { createLabelTest } from './matchers.ts';

const matchers = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), { minItems: 1, maxItems: 50, description }));

/** Rule as in Alertmanager's configuration, in either spelling. */
const ConfiguredRule = Type.Object(
  {
    sourceMatchers: matchers('Matchers of the cause, such as `severity="critical"`.'),
    targetMatchers: matchers('Matchers of incidents that notify nobody while the cause is open.'),
    source_matchers: matchers('`sourceMatchers` as in Alertmanager.'),
    target_matchers: matchers('`targetMatchers` as in Alertmanager.'),
    equal: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: maxPatternLength }), {
        maxItems: 50,
        description: 'Labels that must have equal values in the cause and in the other incident.',
      }),
    ),
  },
  { additionalProperties: false },
);
type ConfiguredRule = Static<typeof ConfiguredRule>;

export const inhibitSettings = {
  inhibitRules: Type.Array(ConfiguredRule, {
    default: [],
    maxItems: 200,
    description:
      "Alertmanager's `inhibit_rules`: while an incident that matches the source is open, incidents that match the target notify nobody.",
  }),
};

/** @throws HttpError if the rule is unusable */
const compileRule = (rule: ConfiguredRule): InhibitRule => ({
  isSource: compileSide(rule, 'sourceMatchers', 'source_matchers'),
  isTarget: compileSide(rule, 'targetMatchers', 'target_matchers'),
  equal: rule.equal ?? [],
});

const compileSide = <T extends keyof ConfiguredRule>(rule: ConfiguredRule, name: T, other: T) => {
  if ((rule[name] === undefined) === (rule[other] === undefined))
    throw new HttpError('invalid', `set either ${name} or ${other}`);
  return createLabelTest((rule[name] ?? rule[other] ?? []).flatMap(parseMatchers));
};

export const compileRules = (rules: readonly ConfiguredRule[]): InhibitRule[] => rules.map(compileRule);

/** Returns the problems of the rules, as clauses. */
export const findRuleProblems = (rules: readonly ConfiguredRule[]): string[] =>
  rules.flatMap((rule, index) => {
    try {
      compileRule(rule);
      return [];
    } catch (error) {
      return [`inhibitRules[${index}]: ${(error as Error).message}`];
    }
  });
