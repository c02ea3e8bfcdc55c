import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect, createServer as createRelay } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { program, say, startFleet } from './fleet.mjs';

const begun = Date.now();
const print = (who, text) => say(`${((Date.now() - begun) / 1000).toFixed(1).padStart(6)} s  ${who.padEnd(8)}${text}`);

/** Phone: a receiver of the protocol of ntfy. */
const messages = [];
const phone = createServer(async (request, response) => {
  const text = Buffer.concat(await request.toArray()).toString();
  response.end('{}');
  messages.push([request.headers.title, ...text.split('\n')].filter(Boolean).join(' | '));
  print('phone', messages.at(-1));
}).listen(0, '127.0.0.1');

/** Network cable of db-1: a relay to the hub that can be cut. */
const sockets = new Set();
let isCut = false;
const cable = createRelay((socket) => {
  if (isCut) return void socket.destroy();
  const hub = connect(new URL(url).port, '127.0.0.1');
  for (const [from, to] of [
    [socket, hub],
    [hub, socket],
  ]) {
    sockets.add(from);
    from.pipe(to);
    from.on('error', () => to.destroy()).on('close', () => sockets.delete(from) && to.destroy());
  }
}).listen(0, '127.0.0.1');

await Promise.all([phone, cable].map((server) => once(server, 'listening')));

/** File system in memory that web-2 fills, and bytes that the example writes. */
const shm = '/dev/shm';
const file = `${shm}/signalbox-example-${process.pid}`;
const { bavail, bsize } = statfsSync(shm);
const free = bavail * bsize;
const filled = Math.min(64 * 2 ** 20, Math.floor(free / 2));
process.once('exit', () => rmSync(file, { force: true }));

const { url, hosts, ask, stop } = await startFleet(['web-1', 'web-2', 'db-1'], 'ignore', {
  destinations: [
    {
      name: 'phone',
      type: 'ntfy',
      url: `http://127.0.0.1:${phone.address().port}/me`,
      notify: 'incidents',
      groupSeconds: 0,
    },
  ],
  watches: [
    {
      name: 'memory-disk',
      type: 'disk',
      mounts: [shm],
      metric: 'free',
      limit: free - Math.floor(filled / 2),
      clear: free - Math.floor(filled / 4),
      level: 'ERROR',
      hosts: ['web-2'],
    },
  ],
});
const [web1, web2, db1] = hosts;

/** Prints each host whose state or number of open incidents changes, as the console shows it. */
const shown = new Map();
const follow = async () => {
  for (const { name, state, openIncidents, isHub } of (await ask('/api/hosts')).data) {
    const text = `${name} is ${state}${openIncidents > 0 ? `, open incidents: ${openIncidents}` : ''}`;
    const label = isHub ? `${text} (the machine of the hub)` : text;
    if (shown.get(name) !== label) print('console', label);
    shown.set(name, label);
  }
};
/** Waits until the console shows each text, or the phone has a message that begins with the text. */
const until = async (...texts) => {
  const isSeen = (text) => [...shown.values()].includes(text) || messages.some((message) => message.startsWith(text));
  while (!texts.every(isSeen)) {
    await setTimeout(200);
    await follow();
  }
};

try {
  print('example', `a hub at ${url}, and agents of web-1, web-2 and db-1`);
  print('example', 'all agents run on one machine: an incident with its host name counts for the host of that name');
  const victim = web1.startAgent(url, web1.code);
  web2.startAgent(url, web2.code);
  db1.startAgent(`http://127.0.0.1:${cable.address().port}`, db1.code);
  await until('web-1 is up', 'web-2 is up', 'db-1 is up');

  print('example', 'kill -9 of the agent of web-1');
  victim.kill('SIGKILL');
  await until('web-1 is silent, open incidents: 1');
  print('example', 'the agent of web-1 starts again');
  web1.startAgent();
  await until('web-1 is up');

  print('example', `web-2 writes ${Math.round(filled / 2 ** 20)} MiB to ${shm}`);
  writeFileSync(file, Buffer.alloc(filled, 1));
  await until(`ERROR #2 ${shm}`);
  print('example', 'web-2 deletes the file');
  rmSync(file);
  await until(`Resolved #2: ${shm}`);

  print('example', 'the cable of db-1 is cut; a program on db-1 sends an alert');
  isCut = true;
  for (const socket of sockets) socket.destroy();
  execFileSync(process.execPath, [
    program,
    'send',
    '--data-dir',
    db1.dataDir,
    '--level',
    'ERROR',
    '--source',
    'backup',
    'the backup failed',
  ]);
  await until('db-1 is silent, open incidents: 1');
  print('example', 'the cable of db-1 is connected');
  isCut = false;
  await until('db-1 is up', 'ERROR #4 the backup failed');
  print('example', 'the incident of the backup is left for you; everything stops');
} finally {
  phone.close();
  cable.close();
  stop();
}
