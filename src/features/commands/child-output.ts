import { basename } from 'node:path';
import { type ChildRequest, runChild } from '../../host/child.ts';
import { findProgram } from '../../host/programs.ts';
import { readingSliceMs } from '../../host/reading.ts';
import { Slice } from '../../lib/slice.ts';
import { CommandFailure, type CommandOutput, maxOutputBytes, type OutputRow } from './runner.ts';

const newline = 10;

/** Maximum size of a line in bytes. Each line is one JSON object. Longer lines are left out of the result. */
const maxLineBytes = 1024 * 1024;

interface TextRequest extends Omit<ChildRequest, 'onOutput'> {
  maxBytes: number;
}

/** Returns a program's output as text. Rejects with a CommandFailure if the program fails or writes too much. */
export const readChildText = async ({ maxBytes, ...request }: TextRequest): Promise<string> => {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const { exitCode, stderr } = await runChild({
    ...request,
    onOutput: (piece) => {
      pieces.push(piece);
      bytes += piece.length;
      return bytes <= maxBytes;
    },
  });
  if (bytes > maxBytes) {
    throw new CommandFailure(`${basename(request.program)} wrote more than ${maxBytes} bytes`);
  }
  if (exitCode !== 0) throw toCommandFailure(request.program, stderr);
  return Buffer.concat(pieces).toString();
};

/** Returns a program's failure, with its own error message. */
export const toCommandFailure = (program: string, stderr: string): CommandFailure =>
  new CommandFailure(`${basename(program)} failed: ${stderr || 'the program wrote no error message'}`);

/**
 * Collects up to `maxRows` rows and about 8 MiB from a program that writes one row per line. `toRow` returns undefined
 * for a line that is not a row. If `toRow` throws, the command fails.
 */
export const collectRows = (maxRows: number, toRow: (line: string) => OutputRow | undefined) => {
  const rows: OutputRow[] = [];
  let bytes = 0;
  let skipped = false;
  const isFull = (): boolean => rows.length >= maxRows || bytes > maxOutputBytes;
  const addLine = (line: string | undefined): boolean => {
    const row = line === undefined ? undefined : toRow(line);
    if (line === undefined) skipped = true;
    else if (row) {
      rows.push(row);
      bytes += line.length;
    }
    return !isFull();
  };
  return {
    onOutput: createLineReader(addLine, maxLineBytes),
    /** True once a limit has been reached. No more output is then read. */
    isFull,
    toOutput: (): CommandOutput => ({ rows, truncated: skipped || bytes > maxOutputBytes }),
  };
};

/**
 * Creates a reader that splits output into lines, working in time slices. `onLine` receives undefined for a line of
 * more than `maxBytes`, because such a line is never held in memory. `onLine` returns false to stop.
 */
export const createLineReader = (onLine: (line: string | undefined) => boolean, maxBytes: number) => {
  let parts: Buffer[] = [];
  let bytes = 0;
  const add = (part: Buffer): void => {
    bytes += part.length;
    if (bytes > maxBytes) parts = [];
    else parts.push(part);
  };
  const takeLine = (): string | undefined => {
    const line = bytes > maxBytes ? undefined : Buffer.concat(parts).toString();
    parts = [];
    bytes = 0;
    return line;
  };
  return async (piece: Buffer): Promise<boolean> => {
    const slice = new Slice(readingSliceMs);
    let start = 0;
    for (let end = piece.indexOf(newline); end >= 0; end = piece.indexOf(newline, start)) {
      add(piece.subarray(start, end));
      if (!onLine(takeLine())) return false;
      if (slice.isOver) await slice.giveWay();
      start = end + 1;
    }
    add(piece.subarray(start));
    return true;
  };
};

/** Returns the first executable path. If there is none, rejects with a CommandFailure with the message in `missing`. */
export const requireProgram = async (paths: readonly string[], missing: string): Promise<string> => {
  const program = await findProgram(paths);
  if (program === null) throw new CommandFailure(missing);
  return program;
};
