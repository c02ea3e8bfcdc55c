import { cutText } from '../../lib/well-formed.ts';

/** Facts about a change that the log keeps for the audit: no values, which may be secret. */
export interface AuditNote {
  /** Set if there was no such setting before. */
  isNew?: true;
  /** Names of the members that have another value than before. */
  fields?: string[];
  /** Describes a setting that is named by an id. */
  label?: string;
}

type Value = Record<string, unknown>;

/** The most characters of a label. */
const longestLabel = 200;

/** The note for a change of a value to another; undefined and null stand for no setting. */
export const toAuditNote = (before: unknown, after: unknown, label: string | undefined): AuditNote => ({
  ...(before === undefined && { isNew: true as const }),
  ...(isComposite(before) && isComposite(after) ? { fields: listChanged(before, after) } : {}),
  ...(label !== undefined && { label: cutText(label, longestLabel) }),
});

/** The characters of a text are no members. */
const isComposite = (value: unknown): value is Value => typeof value === 'object' && value !== null;

/** Members that follow from other changes, and mean nothing to people. */
const internal = ['notBefore', 'generation'];

const listChanged = (before: Value, after: Value): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => !internal.includes(name) && JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
