import { once } from 'node:events';
import * as attacks from '../../test/support/attacks.ts';
import * as greedy from './greedy.ts';

/**
 * A process that attacks a server. It receives its order, sends `attacking` once its connections are open, and keeps
 * them open.
 */
export interface AttackOrder {
  url: string;
  name: keyof typeof attackers;
  clients: number;
}

const lists = ['/api/tasks?limit=1000000', '/simple/api/tasks', '/api/alerts?count=10000'];

const attackers = {
  'header lines': attacks.pipelineHeaderLines,
  'long headers': attacks.pipelineLongHeaders,
  'short requests': attacks.pipelineShortRequests,
  'not reading': (url: string, clients: number) => attacks.stopReading(url, clients, lists),
  bodies: attacks.leaveBodiesUnfinished,
  chunks: attacks.leaveChunksUnfinished,
  idle: attacks.stayIdle,
  resets: (url: string, clients: number) => attacks.sendAndReset(url, clients, attacks.login),
  alerts: attacks.listAlerts,
  'keep-alive': greedy.keepAlive,
  'dripped bodies': greedy.dripBodies,
  streams: greedy.openStreams,
  'large tasks': greedy.postTasks,
};

const [{ url, name, clients }] = (await once(process, 'message')) as [AttackOrder];
await attackers[name](url, clients);
process.send?.('attacking');
