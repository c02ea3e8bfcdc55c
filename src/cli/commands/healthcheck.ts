import { defineCommand } from '../command.ts';
import { say } from '../messages.ts';

/** Settings that say where the server listens. */
const settings = ['host', 'port', 'tlsCert', 'allowedHosts'];

export const healthcheck = defineCommand({
  name: 'healthcheck',
  summary: 'Check that the server of this machine or container works, for example from a container without curl.',
  details: ['Within 5 seconds, /readyz must respond 200; where no mount has it, /livez. Certificates are not checked.'],
  flags: { url: { value: 'URL', summary: 'Server to check, instead of the one of the settings.' } },
  settings,
  exitCodes: {
    0: 'the server works',
    1: 'it does not, or cannot be found; one line on stderr says why',
    2: 'the command line is invalid',
  },
  run: async ({ own, flags }) => {
    const { findOwnServer, findHealthProblem } = await import('../client/health.ts');
    const server = await findOwnServer(settings, flags, own.url);
    const problem = await findHealthProblem(server);
    if (problem === undefined) return 0;
    say(`not healthy: ${problem}`);
    return 1;
  },
});
