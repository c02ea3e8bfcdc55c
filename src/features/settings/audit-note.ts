import { cutText } from '../../lib/well-formed.ts';

/** Facts about a change for the audit. Does not include values, because they may be secret. */
export interface AuditNote {
  /** Set if the change created the setting. */
  isNew?: true;
  /** Names of the members whose values changed. */
  fields?: string[];
  /** Description of the setting. Used if the setting's name is only an id. */
  label?: string;
}

type Value = Record<string, unknown>;

/** Maximum length in characters of a label. */
const maxLabelLength = 200;

/** Returns the note for a change between two values. Undefined or null stands for a missing setting. */
export const toAuditNote = (before: unknown, after: unknown, label: string | undefined): AuditNote => ({
  ...(before === undefined && { isNew: true as const }),
  ...(isComposite(before) && isComposite(after) ? { fields: listChanged(before, after) } : {}),
  ...(label !== undefined && { label: cutText(label, maxLabelLength) }),
});

/** True if the value is an object with members. */
const isComposite = (value: unknown): value is Value => typeof value === 'object' && value !== null;

/** Internal members that are left out of the audit. */
const internal = ['notBefore', 'generation'];

const listChanged = (before: Value, after: Value): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => !internal.includes(name) && JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
