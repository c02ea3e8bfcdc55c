import { escapeControls, print, say } from '../../stdio.ts';
import { type Asking, UnusableResponse } from '../ask.ts';

/** Change in an import plan. */
export interface PlannedChange {
  action: 'create' | 'replace' | 'unchanged' | 'skip';
  what: 'user' | 'contact method' | 'rotation' | 'override' | 'policy' | 'watch' | 'heartbeat';
  name: string;
  detail: string;
  /** Requests that make the change, in order. Paths are relative to the server's URL. */
  requests?: readonly { method: 'POST' | 'PUT'; path: string; body?: object }[];
  /** Request that takes the first request back if a later request fails. */
  undo?: { method: 'DELETE'; path: string };
  /** Text to print after the change, such as an initial password. */
  result?: string;
}

export interface ImportPlan {
  /** Changes in the order of their requests. A setting may refer to earlier settings. */
  changes: readonly PlannedChange[];
  /** Descriptions of the parts that are not imported, each with the reason. */
  leftOut: readonly string[];
}

/** Prints the plan. Applies the changes if `apply` is set. Resolves to the exit code. */
export const followPlan = async (
  asking: Asking,
  { changes, leftOut }: ImportPlan,
  { apply, json }: { apply: boolean | undefined; json: boolean | undefined },
): Promise<number> => {
  if (json) asking.show(changes.map(toShown), () => '');
  else print(describePlan(changes, leftOut));
  if (apply) return applyChanges(asking, changes);
  if (!json) print('Nothing has changed. Apply the plan with --apply.\n');
  return 0;
};

const toShown = ({ action, what, name, detail }: PlannedChange) => ({ action, what, name, detail });

const describePlan = (changes: readonly PlannedChange[], leftOut: readonly string[]): string =>
  [
    ...changes.map(
      ({ action, what, name, detail }) => `${action} ${what} ${name}${detail === '' ? '' : `: ${detail}`}`,
    ),
    ...leftOut.map((note) => `not imported: ${note}`),
    ...(changes.length + leftOut.length === 0 ? ['the export is empty'] : []),
  ]
    .map((line) => `${escapeControls(line)}\n`)
    .join('');

/** Sends the requests of a change. Takes the first request back if a later request fails. */
const applyChange = async ({ askText }: Asking, { what, name, requests = [], undo }: PlannedChange): Promise<void> => {
  for (const [index, { path, ...sent }] of requests.entries()) {
    try {
      await askText(path, sent);
    } catch (error) {
      if (index > 0 && undo)
        await askText(undo.path, undo).catch(() => say(`${what} ${name} was imported only in part: repeat the import`));
      throw error;
    }
  }
};

/**
 * Applies the changes one after the other. Prints refused changes. Ends the import if the server becomes unreachable.
 */
const applyChanges = async (asking: Asking, changes: readonly PlannedChange[]): Promise<number> => {
  const due = changes.filter(({ requests }) => requests !== undefined);
  let done = 0;
  try {
    for (const change of due) {
      const { what, name, result } = change;
      try {
        await applyChange(asking, change);
      } catch (error) {
        if (!(error instanceof UnusableResponse) || error.exitCode !== 1) throw error;
        say(`${what} ${name}: ${error.message}`);
        continue;
      }
      done += 1;
      if (result !== undefined) print(`${escapeControls(result)}\n`);
    }
  } finally {
    print(`${done} of ${due.length} changes applied.\n`);
  }
  return done === due.length ? 0 : 1;
};
