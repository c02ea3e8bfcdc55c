import { styleText } from 'node:util';
import { truncate } from '../client/width.ts';
import { usualColumns } from '../progress.ts';
import { escapeControls, print } from '../stdio.ts';

export type Narrator = ReturnType<typeof createNarrator>;

type Style = Parameters<typeof styleText>[0];

/** Who does what, each with its colour. */
const styles = { sender: 'cyan', incident: 'yellow', notified: 'magenta', person: 'green', machine: 'blue' } as const;

const whoWidth = 14;

/** Prints what happens, a line each with the seconds since the beginning. */
export const createNarrator = () => {
  const startedAt = performance.now();
  const isPainted = process.stdout.isTTY === true && !process.env['NO_COLOR'];
  const paint = (style: Style, text: string): string => (isPainted ? styleText(style, text) : text);
  return {
    tell: (kind: keyof typeof styles, who: string, what: string): void => {
      const seconds = `${Math.floor((performance.now() - startedAt) / 1000)} s`.padStart(5);
      const name = truncate(escapeControls(who), whoWidth).padEnd(whoWidth);
      const left = process.stdout.isTTY
        ? Math.max(20, (process.stdout.columns || usualColumns) - seconds.length - whoWidth - 4)
        : 500;
      print(`${seconds}  ${paint(styles[kind], name)}  ${truncate(escapeControls(what), left)}\n`);
    },
  };
};
