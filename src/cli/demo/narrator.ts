import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { styleText } from 'node:util';
import { usualColumns } from '../progress.ts';
import { parseObject } from '../remote/server.ts';
import { fitText, isPainted, wrap } from '../remote/table.ts';
import { escapeControls, print, readInput } from '../stdio.ts';

export type Narrator = ReturnType<typeof createNarrator>;

/** Colours by actor. */
const styles = { sender: 'cyan', incident: 'yellow', notified: 'magenta', person: 'green', machine: 'blue' } as const;

/**
 * Actors whose lines are printed in full. Lines with alert titles are long, so they are cut at the edge of the
 * terminal.
 */
const isInFull = { sender: true, incident: false, notified: false, person: true, machine: true } as const;

const [secondsWidth, whoWidth, narrowestWidth] = [5, 13, 20];

/** Creates a narrator. It prints each event with the elapsed seconds, on one line if the terminal is wide enough. */
export const createNarrator = () => {
  const startedAt = performance.now();
  const indent = ' '.repeat(secondsWidth + whoWidth + 4);
  const fit = (text: string, isWhole: boolean): string => {
    if (!process.stdout.isTTY) return text;
    const left = Math.max(narrowestWidth, (process.stdout.columns || usualColumns) - indent.length);
    return isWhole ? wrap(text, left).join(`\n${indent}`) : fitText(text, left);
  };
  return {
    tell: (kind: keyof typeof styles, who: string, what: string): void => {
      const seconds = `${Math.floor((performance.now() - startedAt) / 1000)} s`.padStart(secondsWidth);
      const name = fitText(escapeControls(who), whoWidth).padEnd(whoWidth);
      print(
        `${seconds}  ${isPainted() ? styleText(styles[kind], name) : name}  ${fit(escapeControls(what), isInFull[kind])}\n`,
      );
    },
  };
};

const maxBytes = 1024 * 1024;

interface Delivery {
  type?: string;
  data?: { message?: { title?: string } };
}

/**
 * Starts a webhook server that plays the chat and the phones of the demonstration. It prints each message that it
 * receives.
 */
export const startReceiver = async ({ tell }: Narrator) => {
  const server = createServer(async (request, response) => {
    const name = decodeURIComponent(request.url?.slice(1) ?? '');
    const body = await readInput(request, maxBytes).catch(() => undefined);
    response.end();
    const { type, data } = parseObject(body?.toString() ?? '') as Delivery;
    const title = data?.message?.title;
    const isRinging = name.endsWith('-phone') && type !== 'incident.resolved';
    if (title !== undefined)
      tell('notified', name, `${isRinging ? 'rings, because nobody has acknowledged the incident' : 'gets'}: ${title}`);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    /** Base address, to which the name of a destination is appended. */
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: async (): Promise<void> => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
