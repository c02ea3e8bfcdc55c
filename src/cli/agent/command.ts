import { otherVariables } from '../../config/names.ts';
import { UsageError } from '../args.ts';
import { defineCommand } from '../command.ts';
import { temporaryFailure } from '../remote/server.ts';

export const agentCommand = defineCommand({
  name: 'agent',
  argument: { name: '[CODE]', isList: true },
  summary: "Send this machine's readings, and the alerts of its watches, heartbeats and local programs, to a hub.",
  details: [
    'The agent listens on no port: signalbox send and run on this machine reach the agent through a socket in the data folder.',
    "Get CODE from signalbox add-host or from the hub's console. CODE works once: the agent exchanges it for a key, and stores the key in the data folder.",
    'While the hub is unreachable, alerts and up to 24 hours of readings are kept on disk, and sent later.',
    'SIGTERM stops the agent cleanly: the hub then waits ten minutes before it reports the host as missing.',
  ],
  settings: ['dataDir', 'logLevel', 'timeZone'],
  flags: {
    hub: {
      value: 'URL',
      summary: 'URL of the hub: https, or http for a hub on this machine. Default: hub in the config file.',
    },
    keyFile: { value: 'FILE', summary: 'File with the key of this host. Default: hub.key in the data folder.' },
    ca: { value: 'FILE', summary: "PEM file with the certificate authority that signed the hub's certificate." },
    install: { summary: 'Show a systemd unit for the agent, and install the unit after confirmation.' },
  },
  variables: {
    [otherVariables.hubKey]: 'Key of this host, instead of a file.',
  },
  exitCodes: {
    0: 'the agent was stopped',
    1: 'the agent could not start, or the hub refused the code',
    2: 'the command line is invalid',
    [temporaryFailure]: 'the hub could not be reached before the code expired',
  },
  run: async ({ words, own, flags }) => {
    if (words.length > 1) throw new UsageError('agent takes at most one CODE; see signalbox agent --help');
    const { hub, keyFile, ca } = own;
    const given = { hub, keyFile, ca, code: words[0] };
    if (own.install) return (await import('./install.ts')).installAgent(flags, given);
    return (await import('./run-agent.ts')).runAgent(flags, given);
  },
});
