import { readProgramFile } from '../server/package-info.ts';

/** Shells with a completion script. */
export const completionShells = ['bash', 'zsh', 'fish'] as const;
export type CompletionShell = (typeof completionShells)[number];

/** Texts the program prints about itself, created by the build from the commands and settings, in `tools/texts`. */
export interface Texts {
  /** Help by command name. */
  help: Record<string, string>;
  completions: Record<CompletionShell, string>;
  manPage: string;
  configSchema: string;
}

export const loadTexts = (): Texts => JSON.parse(String(readProgramFile('dist/texts.json')));
