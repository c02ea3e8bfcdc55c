export type Kind = 'create' | 'read' | 'update' | 'remove';

/**
 * `ok`: acknowledged. `absent`: 404. `conflict`: 412. `not-applied`: refused, certainly without a change. `unknown`: may
 * have been applied, now or later.
 */
export type Outcome = 'ok' | 'absent' | 'conflict' | 'not-applied' | 'unknown';

/** One operation of a client, with every attempt to send it. */
export interface Operation {
  client: number;
  kind: Kind;
  /** The task; undefined for a creation without an answer. */
  id: number | undefined;
  /** The value that was read or written, in no other operation; undefined for a removal. */
  value: string | undefined;
  /** The value that the task must have for the change, as If-Match says. */
  expected?: string;
  /** Milliseconds of the client's clock. */
  begin: number;
  end: number;
  outcome: Outcome;
  /** The last status, or the error of the connection. */
  answer: number | string;
}

/** A creation writes its value into Title, too, which nothing changes: it finds the task of one without an answer. */
export interface FinalTask {
  id: number;
  title: string;
  value: string;
}

/** One line for each operation, in order of their beginning, for the message of a failed check. */
export const print = (operations: readonly Operation[]): string =>
  operations
    .toSorted((a, b) => a.begin - b.begin)
    .map(({ client, kind, id, value, expected, begin, end, outcome, answer }) => {
      const condition = expected === undefined ? '' : ` if ${expected}`;
      const time = `${begin.toFixed(1)}–${end.toFixed(1)}`;
      return `${time} client ${client}: ${kind} ${id} ${value ?? ''}${condition}: ${outcome} (${answer})`;
    })
    .join('\n');
