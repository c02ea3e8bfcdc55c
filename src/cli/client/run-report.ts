import { createHash } from 'node:crypto';
import { say } from '../messages.ts';
import { AlertSender, explainUnsent } from './alert-sender.ts';
import type { OutgoingAlert } from './deliver.ts';
import type { Server } from './server.ts';
import { StateFolder, tolerate } from './state-folder.ts';

interface RunReport {
  /** Sends an alert; a later success resolves it. */
  failure(message: string): void;
  /** Resolves the alerts of this run and of the last one, if there are any. */
  success(message: string): void;
  /** Keeps what was not delivered yet, before the process ends. */
  interrupt(): void;
  /** Resolves once everything was sent or kept. */
  finish(): Promise<void>;
}

/** The commands whose last run was reported as failed to a server. */
const failedRuns = new StateFolder('failed-runs');

/** Tells the server about runs of one command, which the key of its alerts stands for. Nothing here stops the command. */
export const createRunReport = (
  server: Server | { refused: string },
  about: Required<Pick<OutgoingAlert, 'source' | 'hostname' | 'key' | 'level'>>,
  retryForMs: number,
): RunReport => {
  if ('refused' in server) {
    return createMute(explainUnsent({ reason: server.refused, isKept: false, lost: 'no server can be used' }));
  }
  const file = toFile(server.url.href, about.key);
  const sender = new AlertSender(server);
  const sending: Promise<void>[] = [];
  /** The alert was sent or kept. */
  const note = ({ status }: OutgoingAlert): void => {
    if (status === 'firing') {
      const text = JSON.stringify({ url: server.url.href, key: about.key });
      tolerate('a later success will not resolve the alert', () => failedRuns.write(file, text));
    } else {
      tolerate('the next success sends the resolution again', () => failedRuns.remove(file));
    }
  };
  /** The alert that says how the run stands. */
  let last: OutgoingAlert | undefined;
  const send = async (alert: OutgoingAlert): Promise<void> => {
    last = alert;
    const sent = await sender.send(alert, retryForMs);
    if (!('id' in sent)) say(explainUnsent(sent));
    if ('id' in sent || sent.isKept) note(alert);
  };
  return {
    failure: (message) => {
      sending.push(send({ ...about, message, status: 'firing' }));
    },
    success: (message) => {
      const isOver = last !== undefined || tolerate('an earlier alert is not resolved', () => failedRuns.has(file));
      sending.push(isOver ? send({ ...about, level: 'INFO', message, status: 'resolved' }) : sender.deliverKept());
    },
    interrupt: () => {
      if (!sender.hasPending) return;
      const keeping = sender.keepPending();
      if (last && keeping.isKept) note(last);
      say(explainUnsent({ reason: 'interrupted', ...keeping }));
    },
    finish: async () => {
      await Promise.all(sending);
    },
  };
};

const createMute = (problem: string): RunReport => ({
  failure: () => say(problem),
  success: () => undefined,
  interrupt: () => undefined,
  finish: async () => undefined,
});

const toFile = (url: string, key: string): string =>
  `${createHash('sha256').update(`${url}\n${key}`).digest('hex').slice(0, 32)}.json`;
