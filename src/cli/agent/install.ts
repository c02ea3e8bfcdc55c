import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { isSea } from 'node:sea';
import { type AgentOptions, readAgentSettings } from '../../agent/agent-settings.ts';
import { type Flags, findConfigPath } from '../../config/load.ts';
import { SettingsError } from '../../config/settings-error.ts';
import { runSystemctl } from '../../host/linux/systemd.ts';
import { type HubSetting, readHubKey } from '../../kit/hub.ts';
import { replaceFile } from '../../storage/replaced-file.ts';
import { print, say } from '../stdio.ts';
import { enrol } from './enrol.ts';
import { listServerSettings } from './run-agent.ts';

const unitName = 'signalbox-agent.service';
const unitPath = `/etc/systemd/system/${unitName}`;
const stateFolder = '/var/lib/signalbox-agent';

/** Returns the text of the systemd unit that runs the agent. */
export const createUnit = (
  url: string,
  { ca, config }: { ca?: string | undefined; config?: string | undefined },
): string => {
  const program = isSea() ? [process.execPath] : [process.execPath, process.argv[1] ?? ''];
  const words = [
    ...program,
    'agent',
    '--hub',
    url,
    // systemd starts the agent in another working directory.
    ...(ca === undefined ? [] : ['--ca', resolve(ca)]),
    ...(config === undefined ? [] : ['--config', resolve(config)]),
    '--data-dir',
    stateFolder,
  ];
  return `# Written by signalbox agent --install
[Unit]
Description=signalbox agent: reports this machine to ${url.replaceAll('%', '%%')}
Wants=network-online.target
After=network-online.target

[Service]
ExecStart=${words.map(quote).join(' ')}
Restart=always
RestartSec=5
TimeoutStopSec=20
# One pool of memory for all threads: 1.5 MiB less.
Environment=MALLOC_ARENA_MAX=1
StateDirectory=signalbox-agent
StateDirectoryMode=0700
UMask=0077
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=read-only
PrivateTmp=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictSUIDSGID=yes
LockPersonality=yes

[Install]
WantedBy=multi-user.target
`;
};

/** Quotes a word for a unit's command line. */
const quote = (word: string): string => {
  const text = word.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /^[\w./:=@%,+-]+$/.test(text) ? text : `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
};

/**
 * Stores the key in a file that only its owner can read, because systemd starts the agent without the environment
 * variable. The key comes from `--key-file` or else from the variable. Throws an Error if there is no key.
 */
export const storeKey = (hub: HubSetting, given: Pick<AgentOptions, 'keyFile'>, keyFile: string): void => {
  if (given.keyFile !== undefined) replaceFile(keyFile, `${readHubKey({ keyFile: given.keyFile })}\n`);
  else if (hub.keyFile === undefined) replaceFile(keyFile, `${readHubKey({})}\n`);
};

/**
 * Shows the unit, asks for confirmation and installs the unit. Resolves to the exit code. Throws a SettingsError if a
 * setting is unusable.
 */
export const installAgent = async (flags: Flags, given: AgentOptions): Promise<number> => {
  const { hub } = readAgentSettings({ ...flags, dataDir: stateFolder }, given, listServerSettings());
  const unit = createUnit(hub.url, { ca: hub.ca, config: findConfigPath(flags, process.env) });
  print(`${unitPath}:\n\n${unit}\n`);
  if (
    !(await ask(`Write this file${given.code === undefined ? '' : ', use the code'} and start ${unitName}? [y/N] `))
  ) {
    say('not confirmed: nothing was changed');
    return 1;
  }
  const keyFile = join(stateFolder, 'hub.key');
  try {
    mkdirSync(stateFolder, { recursive: true, mode: 0o700 });
    storeKey(hub, given, keyFile);
    if (given.code !== undefined) {
      const failure = await enrol(hub, given.code, keyFile);
      if (failure !== undefined) return failure;
    }
    mkdirSync(dirname(unitPath), { recursive: true });
    writeFileSync(unitPath, unit, { mode: 0o644 });
  } catch (error) {
    if (error instanceof SettingsError) throw error;
    throw new SettingsError([`the agent cannot be installed: ${(error as Error).message}`]);
  }
  for (const words of [['daemon-reload'], ['enable', '--now', unitName]]) {
    const { status, error } = runSystemctl(words);
    if (status !== 0)
      throw new SettingsError([`systemctl ${words.join(' ')} failed${error ? `: ${error.message}` : ''}`]);
  }
  say(`${unitName} is running`);
  return 0;
};

const ask = async (question: string): Promise<boolean> => {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  const answer = await Promise.race([lines.question(question), closed]);
  lines.close();
  return /^y(es)?$/i.test(answer.trim());
};
