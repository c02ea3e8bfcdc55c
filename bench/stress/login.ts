import { Agent } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { createPost } from '../support/ask.ts';
import { quantile } from '../support/figures.ts';
import type { Finding } from '../support/finding.ts';
import { send } from '../support/http.ts';
import type { Scope } from '../support/scope.ts';
import type { Server } from '../support/server.ts';
import { password, startSignalbox } from '../support/signalbox.ts';
import { createBystanders } from './bystanders.ts';
import { beginLoad } from './load.ts';
import type { OpenLoopFigures, OpenLoopOrder } from './open-loop.ts';
import type { Part } from './part.ts';

const connections = 50;
const seconds = 10;
/** Five times the rate that could be checked without limits. */
const perSecond = 100;
/** Milliseconds between correct logins. */
const pause = 1000;
const elsewhere = '127.0.0.2';
const path = '/health';
const warmUpSeconds = 2;

/** Repeated logins with wrong passwords. */
export const login: Part = {
  name: 'login',
  measure: async (scope) => [
    ...(await measureGuesses(scope, `${perSecond * seconds} wrong logins in ${seconds} s`, { perSecond })),
    ...(await measureGuesses(scope, `wrong logins for ${seconds} s, as fast as they are answered`, {})),
  ],
};

const measureGuesses = async (
  scope: Scope,
  work: string,
  pace: Pick<OpenLoopOrder, 'perSecond'>,
): Promise<Finding[]> => {
  const server = await startSignalbox(scope, undefined);
  const other = await startSignalbox(scope, undefined);
  await createBystanders(server, other, path).askIdle(warmUpSeconds);
  const bystanders = createBystanders(server, other, path);
  await bystanders.askIdle(seconds / 2);
  const post = createPost(`${server.url}/api/auth/login`, { Username: 'admin', Password: 'wrong' });
  const order: OpenLoopOrder = { ...post, connections, seconds, ...pace };
  const finish = await beginLoad(scope, undefined, order);
  const [figures, right] = await Promise.all([finish(), logInElsewhere(server), bystanders.askUnderLoad(seconds)]);
  await bystanders.askIdle(seconds / 2);
  await Promise.all([server.kill(), other.kill()]);
  return [...toFindings(work, figures, right), ...bystanders.toFindings('login')];
};

/** Durations in milliseconds of correct logins from another address; throws if one is refused. */
const logInElsewhere = async ({ url }: Server): Promise<number[]> => {
  const agent = new Agent({ localAddress: elsewhere });
  const body = { Username: 'admin', Password: password };
  const times: number[] = [];
  for (const end = performance.now() + seconds * 1000; performance.now() < end; await setTimeout(pause)) {
    const answer = await send(`${url}/api/auth/login`, { agent, body });
    if (answer?.status !== 200) throw new Error(`a correct login from ${elsewhere} was ${answer?.status}`);
    times.push(answer.ms);
  }
  return times;
};

const toFindings = (work: string, { statuses }: OpenLoopFigures, right: number[]): Finding[] => {
  const total = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  const counts = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
  return [
    {
      id: 'login',
      work: `${work}, ${connections} connections: answers with 429 (${counts.join(', ')})`,
      unit: ' %',
      ours: [((statuses[429] ?? 0) / total) * 100],
      goals: [{ of: 'value', atLeast: 99 }],
    },
    {
      id: 'login',
      work: `correct logins from ${elsewhere} under load, all ${right.length} answered 200: median`,
      unit: ' ms',
      ours: [quantile(right, 0.5)],
      goals: [],
    },
  ];
};
