import { readProgramFile } from '../app/package-info.ts';

/** What the program prints about itself. The build makes it from the commands and settings, in `tools/texts`. */
export interface Texts {
  /** By the name of the command. */
  help: Record<string, string>;
  /** By shell. */
  completions: Record<'bash' | 'zsh' | 'fish', string>;
  manPage: string;
  configSchema: string;
}

export const loadTexts = (): Texts => JSON.parse(String(readProgramFile('dist/texts.json')));
