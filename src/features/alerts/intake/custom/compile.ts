import Type from 'typebox';
import { HttpError } from '../../../../http/errors.ts';
import { findSeverity, toSeverity } from '../../../../kit/severity.ts';
import { isObject } from '../../../../lib/parse-json.ts';
import { clean } from '../clean-text.ts';
import { toAlertLabels, toHostname } from '../fields.ts';
import type { ForeignAlert, Format } from '../format.ts';
import { shortenId } from '../hashes.ts';
import { toLink } from '../links.ts';
import type { FormatDefinition } from './definition.ts';
import { compilePointer, compileText, isConstant, type Render, type TemplateInput, toPlainText } from './template.ts';

/** Maximum number of characters read for a link, a label and a key. */
const limits = { link: 8192, label: 1024, key: 65_536 };

/** Schema that accepts any body. Only the pointers in the definition select what is read. */
const AnyBody = Type.Unknown();

/** Compiles a format from its definition. Throws an Error whose message begins with the name of the faulty member. */
export const compileFormat = (name: string, definition: FormatDefinition): Format => {
  const assertMatches = at('match', () => compileMatch(definition.match ?? {}));
  const { each } = definition;
  const find = each === undefined ? undefined : at('each', () => compilePointer(each));
  const toAlert = compileAlert(name, definition);
  return {
    name,
    summary: `Store alerts in the format ${name}`,
    schema: AnyBody,
    recognizes: () => false,
    *readAlerts(body) {
      if (typeof body !== 'object' || body === null)
        throw new HttpError('invalid', 'Request body must be an object or a list');
      assertMatches(body);
      const alerts = find ? find({ body, alert: body }) : [body];
      if (!Array.isArray(alerts)) throw new HttpError('invalid', `${each} must be a list`);
      for (const alert of alerts) yield toAlert({ body, alert });
    },
  };
};

const compileAlert = (name: string, definition: FormatDefinition): ((input: TemplateInput) => ForeignAlert) => {
  const compile = (member: 'message' | 'source' | 'key' | 'hostname' | 'link'): Render => {
    const text = definition[member];
    return text === undefined ? () => '' : at(member, () => compileText(text));
  };
  const message = compile('message');
  const [source, key, hostname, link] = [compile('source'), compile('key'), compile('hostname'), compile('link')];
  const level = at('level', () =>
    compileChoice(definition.level, 'a level such as ERROR', (text) => findSeverity(text) !== undefined),
  );
  const status = at('status', () =>
    compileChoice(definition.status, 'firing or resolved', (text) => text === 'firing' || text === 'resolved'),
  );
  const labels = at('labels', () => compileLabels(definition.labels ?? {}));
  return (input) => {
    const named = clean(source(input, 1024), 256) || name;
    const fingerprint = key(input, limits.key);
    return {
      source: named,
      level: toSeverity(level(input, 64)),
      message: clean(message(input, 16_384), 4096) || named,
      hostname: toHostname(hostname(input, 1024)),
      status: status(input, 64).trim().toLowerCase() === 'resolved' ? 'resolved' : 'firing',
      ...(fingerprint !== '' && { fingerprint: shortenId(fingerprint) }),
      labels: labels(input),
      link: toLink(link(input, limits.link)),
    };
  };
};

/** Runs `compile`. Prefixes the message of its Error with the name of the member. */
const at = <T>(member: string, compile: () => T): T => {
  try {
    return compile();
  } catch (error) {
    throw new Error(`${member}: ${(error as Error).message}`);
  }
};

/** Compiles a check that throws an HttpError if the body does not have the expected values. */
const compileMatch = (match: NonNullable<FormatDefinition['match']>): ((body: unknown) => void) => {
  const rules = Object.entries(match).map(([pointer, wanted]) => {
    const all: unknown[] = [wanted].flat();
    if (all.length === 0) throw new Error(`${pointer} has no values`);
    return { pointer, all, find: compilePointer(pointer) };
  });
  return (body) => {
    for (const { pointer, all, find } of rules) {
      if (all.includes(find({ body, alert: body }))) continue;
      throw new HttpError('invalid', `${pointer} must be ${all.map((one) => JSON.stringify(one)).join(' or ')}`);
    }
  };
};

/** Compiles a string, or a table that maps each value of a pointer to a string. */
const compileChoice = (given: FormatDefinition['level'], noun: string, isKnown: (text: string) => boolean): Render => {
  const assertKnown = (text: string): void => {
    if (!isKnown(text)) throw new Error(`${JSON.stringify(text)} is not ${noun}`);
  };
  if (given === undefined) return () => '';
  if (typeof given === 'string') {
    if (isConstant(given)) assertKnown(given);
    return compileText(given);
  }
  const [[pointer, names] = []] = Object.entries(given);
  if (pointer === undefined || names === undefined)
    throw new Error('must be a string, or an object with one pointer and a string for each of its values');
  for (const text of Object.values(names)) assertKnown(text);
  const find = compilePointer(pointer);
  const byValue = new Map(Object.entries(names));
  return (input) => byValue.get(toPlainText(find(input))) ?? byValue.get('*') ?? '';
};

const compileLabels = (
  given: NonNullable<FormatDefinition['labels']>,
): ((input: TemplateInput) => Record<string, string>) => {
  if (typeof given === 'string') {
    const find = compilePointer(given.replace(/^\{(.*)\}$/s, '$1'));
    return (input) => {
      const found = find(input);
      return isObject(found) ? toAlertLabels(found) : {};
    };
  }
  const all = Object.entries(given).map(([name, text]) => [name, at(name, () => compileText(text))] as const);
  return (input) => {
    const texts = all.map(([name, render]) => [name, render(input, limits.label)] as const);
    return toAlertLabels(Object.fromEntries(texts.filter(([, text]) => text !== '')));
  };
};
