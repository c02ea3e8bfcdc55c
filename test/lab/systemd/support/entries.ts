import { waitUntil } from '../../../support/wait.ts';
import type { Machine } from './machine.ts';

const fields = [
  'MESSAGE=first',
  'MESSAGE=second',
  'MESSAGE_ID=fc2e22bc6ee647b6b90729ab34a250b1',
  'PRIORITY=2',
  'SYSLOG_IDENTIFIER=demo-id',
];

/**
 * Shell scripts by their source name, one for each kind of message: text, bytes that are not plain text, and lines with
 * an id.
 */
const scripts = {
  'demo-log': `logger -t demo-log -p user.warning 'plain é "text"'`,
  'demo-bytes': String.raw`printf 'esc \033[1m bold\n' | systemd-cat -t demo-bytes -p err`,
  'demo-utf8': String.raw`printf 'bad \377 utf8\n' | systemd-cat -t demo-utf8`,
  'demo-id': `printf '%s\\n' ${fields.join(' ')} | logger --journald`,
};

/** Writes the entries to the journal one after another. */
export const writeEntries = async ({ run }: Machine): Promise<void> => {
  for (const [name, script] of Object.entries(scripts)) {
    run('sh', '-c', script);
    await waitUntil(`the journal has ${name}`, () => run('journalctl', '-q', '-t', name) !== '');
  }
};
