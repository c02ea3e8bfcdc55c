import { otherVariables } from '../../config/names.ts';
import { UsageError } from '../args.ts';
import { defineCommand } from '../command.ts';
import { temporaryFailure } from '../remote/server.ts';

export const agentCommand = defineCommand({
  name: 'agent',
  argument: { name: '[CODE]', isList: true },
  summary: 'Report this machine to a hub: its readings, and the alerts of its watches, heartbeats and local senders.',
  details: [
    'It is a server that listens on no port, only on a socket in its data folder, which signalbox send and run on this machine use.',
    'CODE is what signalbox add-host or the console of the hub shows. It works once; the key that it is exchanged for is kept in the data folder.',
    'While the hub is away, alerts and readings of 24 hours are kept on disk and sent later.',
    'SIGTERM ends it in order: the hub does not miss the host for ten minutes.',
  ],
  settings: ['dataDir', 'logLevel', 'timeZone'],
  flags: {
    hub: {
      value: 'URL',
      summary: 'Address of the hub, with https; http only on this machine. Default: hub in the config file.',
    },
    keyFile: { value: 'FILE', summary: 'File with the key of this host. Default: hub.key in the data folder.' },
    ca: { value: 'FILE', summary: 'PEM file with an authority that signed the certificate of the hub.' },
    install: { summary: 'Show the systemd unit that runs the agent, ask, and install it.' },
  },
  variables: {
    [otherVariables.hubKey]: 'Key of this host, instead of a file.',
  },
  exitCodes: {
    0: 'the agent was stopped',
    1: 'the agent could not start, or the hub refused the code',
    2: 'the command line is invalid',
    [temporaryFailure]: 'the hub could not be reached while the code was valid',
  },
  run: async ({ words, own, flags }) => {
    if (words.length > 1) throw new UsageError('agent takes one CODE at most; see signalbox agent --help');
    const { loadAgent, schema } = await import('../program.ts');
    const { installAgent, runAgent } = await loadAgent();
    const { hub, keyFile, ca } = own;
    const given = { hub, keyFile, ca, code: words[0] };
    return own.install ? installAgent(schema, flags, given) : runAgent(schema, flags, given);
  },
});
