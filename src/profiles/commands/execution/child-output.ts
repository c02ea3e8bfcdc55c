import { basename } from 'node:path';
import { type ChildRequest, runChild } from './child.ts';
import { CommandFailure } from './runner.ts';

interface TextRequest extends Omit<ChildRequest, 'onOutput'> {
  maxBytes: number;
}

/** What a program writes, as text; a CommandFailure where it ends with an error or writes too much. */
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
  if (exitCode !== 0) throw toFailure(request.program, stderr);
  return Buffer.concat(pieces).toString();
};

/** What a program said when it failed. */
export const toFailure = (program: string, stderr: string): CommandFailure =>
  new CommandFailure(`${basename(program)} failed: ${stderr || 'it gave no reason'}`);
