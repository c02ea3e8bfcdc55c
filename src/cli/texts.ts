import { readProgramFile } from '../server/package-info.ts';

/** Shells with a completion script. */
export const completionShells = ['bash', 'zsh', 'fish'] as const;
export type CompletionShell = (typeof completionShells)[number];

/**
 * Texts that the program prints about itself. `tools/texts` generates them from the commands and settings at build
 * time.
 */
export interface Texts {
  /** Help by command name. */
  help: Record<string, string>;
  completions: Record<CompletionShell, string>;
  manPage: string;
  configSchema: string;
}

export const loadTexts = (): Texts => JSON.parse(String(readProgramFile('dist/texts.json')));
