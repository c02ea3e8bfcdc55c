import { say } from '../messages.ts';
import { AlertSender, explainUnsent } from './alert-sender.ts';
import type { OutgoingAlert } from './deliver.ts';
import { forgetFailure, hasFailed, rememberFailure } from './failed-runs.ts';
import type { Server } from './server.ts';

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

/** Tells the server about runs of one command, which the key of its alerts stands for. Nothing here stops the command. */
export const createRunReport = (
  server: Server | { refused: string },
  about: Required<Pick<OutgoingAlert, 'source' | 'hostname' | 'key' | 'level'>>,
  retryForMs: number,
): RunReport => {
  if ('refused' in server) return createMute(explainUnsent(server));
  const { href } = server.url;
  const sender = new AlertSender(server);
  const sending: Promise<void>[] = [];
  const note = ({ status }: OutgoingAlert): void => {
    if (status === 'firing') remember(href, about.key);
    else forgetFailure(href, about.key);
  };
  /** The alert that says how the run stands. */
  let last: OutgoingAlert | undefined;
  const send = async (alert: OutgoingAlert): Promise<void> => {
    last = alert;
    const sent = await sender.send(alert, retryForMs);
    if (!('id' in sent)) say(explainUnsent(sent));
    if (!('refused' in sent)) note(alert);
  };
  return {
    failure: (message) => {
      sending.push(send({ ...about, message, status: 'firing' }));
    },
    success: (message) => {
      const isOver = last !== undefined || hasFailed(href, about.key);
      sending.push(isOver ? send({ ...about, level: 'INFO', message, status: 'resolved' }) : sender.deliverKept());
    },
    interrupt: () => {
      if (!sender.hasPending) return;
      const lost = sender.keepPending();
      if (last) note(last);
      say(explainUnsent({ away: 'interrupted', ...(lost !== undefined && { lost }) }));
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

const remember = (url: string, key: string): void => {
  try {
    rememberFailure(url, key);
  } catch (error) {
    say(`a later success will not resolve the alert: ${(error as Error).message}`);
  }
};
