import { styleText } from 'node:util';
import { fitText } from '../client/width.ts';
import { wrap } from '../help.ts';
import { usualColumns } from '../progress.ts';
import { escapeControls, print } from '../stdio.ts';

export type Narrator = ReturnType<typeof createNarrator>;

type Style = Parameters<typeof styleText>[0];

/** Who does what, each with its colour. */
const styles = { sender: 'cyan', incident: 'yellow', notified: 'magenta', person: 'green', machine: 'blue' } as const;

/** What is written in full; titles of alerts, which are long, are cut where the line ends. */
const isInFull = { sender: true, incident: false, notified: false, person: true, machine: true } as const;

const [secondsWidth, whoWidth, leastWidth] = [5, 13, 20];

/** Prints what happens with the seconds since the beginning: a line each, where the terminal is wide enough. */
export const createNarrator = () => {
  const startedAt = performance.now();
  const isPainted = process.stdout.isTTY === true && !process.env['NO_COLOR'];
  const paint = (style: Style, text: string): string => (isPainted ? styleText(style, text) : text);
  const indent = ' '.repeat(secondsWidth + whoWidth + 4);
  const fit = (text: string, isWhole: boolean): string => {
    if (!process.stdout.isTTY) return text;
    const left = Math.max(leastWidth, (process.stdout.columns || usualColumns) - indent.length);
    return isWhole ? wrap(text, left).join(`\n${indent}`) : fitText(text, left);
  };
  return {
    tell: (kind: keyof typeof styles, who: string, what: string): void => {
      const seconds = `${Math.floor((performance.now() - startedAt) / 1000)} s`.padStart(secondsWidth);
      const name = fitText(escapeControls(who), whoWidth).padEnd(whoWidth);
      print(`${seconds}  ${paint(styles[kind], name)}  ${fit(escapeControls(what), isInFull[kind])}\n`);
    },
  };
};
