export type Kind = 'create' | 'read' | 'update' | 'remove';

/**
 * `ok`: acknowledged. `absent`: 404. `conflict`: 412. `not-applied`: refused, certainly without effect. `unknown`: may
 * have been applied, or may still be applied.
 */
export type Outcome = 'ok' | 'absent' | 'conflict' | 'not-applied' | 'unknown';

/** Client operation, with all attempts to send it. */
export interface Operation {
  client: number;
  kind: Kind;
  /** Id of the task. Undefined for a creation without a response. */
  id: number | undefined;
  /** Value that was read or written, unique to the operation. Undefined for a removal. */
  value: string | undefined;
  /** Value that the task must have for the change to apply, sent in If-Match. */
  expected?: string;
  /** Milliseconds on the client's clock. */
  begin: number;
  end: number;
  outcome: Outcome;
  /** Last status, or connection error. */
  answer: number | string;
}

/**
 * Final state of a task. A creation also writes its value into Title. Title never changes, so it identifies the task
 * even if the creation got no response.
 */
export interface FinalTask {
  id: number;
  title: string;
  value: string;
}

/** Returns one line per operation, in order of their start, for the message of a failed check. */
export const print = (operations: readonly Operation[]): string =>
  operations
    .toSorted((a, b) => a.begin - b.begin)
    .map(({ client, kind, id, value, expected, begin, end, outcome, answer }) => {
      const condition = expected === undefined ? '' : ` if ${expected}`;
      const time = `${begin.toFixed(1)}–${end.toFixed(1)}`;
      return `${time} client ${client}: ${kind} ${id} ${value ?? ''}${condition}: ${outcome} (${answer})`;
    })
    .join('\n');
