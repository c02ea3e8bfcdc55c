import { ask, createPost, logIn } from '../support/ask.ts';
import { startWebhook } from '../support/opponents.ts';
import { compareRates } from '../support/rounds.ts';
import { startSignalbox } from '../support/signalbox.ts';
import type { Row } from './row.ts';

const connections = 16;

/** Listing processes with a command, compared with a webhook that runs `ps`. */
export const execute: Row = {
  id: 'B8',
  measure: async (bench) => {
    const { scope, cores } = bench;
    const webhook = await startWebhook(scope, cores);
    const server = await startSignalbox(scope, cores);
    const post = createPost(`${server.url}/api/execute`, { command: 'Get-Process' });
    const authorization = `Bearer ${await logIn(server.url)}`;
    const ours = { ...post, headers: { ...post.headers, authorization }, connections };
    const theirs = { url: `${webhook.url}/hooks/ps`, connections };
    for (const request of [ours, theirs]) await ask(request);
    const { ours: mine, figures } = await compareRates(
      bench,
      { server, request: ours },
      { server: webhook, request: theirs },
    );
    return [
      {
        id: 'B8',
        work: 'POST /api/execute, Get-Process',
        unit: '/s',
        ours: mine,
        beside: { name: 'webhook running ps -e', figures },
        goals: [{ of: 'ratio', atLeast: 10 }],
      },
    ];
  },
};
