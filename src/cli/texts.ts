import { readProgramFile } from '../server/package-info.ts';

/** The shells for which there is a script. */
export const completionShells = ['bash', 'zsh', 'fish'] as const;
export type CompletionShell = (typeof completionShells)[number];

/** What the program prints about itself. The build makes it from the commands and settings, in `tools/texts`. */
export interface Texts {
  /** By the name of the command. */
  help: Record<string, string>;
  completions: Record<CompletionShell, string>;
  manPage: string;
  configSchema: string;
}

export const loadTexts = (): Texts => JSON.parse(String(readProgramFile('dist/texts.json')));
