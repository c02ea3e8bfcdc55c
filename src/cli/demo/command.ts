import { defineCommand } from '../command.ts';

export const demoCommand = defineCommand({
  name: 'demo',
  summary: 'Show what signalbox does, in a minute: a server with made-up senders, which leaves nothing behind.',
  details: [
    'It starts a server on a free port of this machine, with a temporary folder, and prints the address of the console, the login, and what happens.',
    'Incidents open, escalate and are resolved, a heartbeat is late, a disk fills up: a watch has its limit 32 MiB below the space that is free, and the demo writes 64 MiB for a few seconds.',
    'Ctrl+C ends it and deletes the folder. Variables and config files are not read.',
  ],
  run: async () => {
    const { loadDemo, schema } = await import('../program.ts');
    const { runDemo } = await loadDemo();
    return runDemo(schema);
  },
});
