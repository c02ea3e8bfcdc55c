import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { createFolder } from '../support/folder.ts';
import { startProgram } from '../support/program.ts';
import { waitUntilPasses } from '../support/wait.ts';

const limit = 64;

/** Milliseconds to wait: longer than two intervals of the CPU sampler. */
const samplingMs = 2500;

const prlimit = '/usr/bin/prlimit';
const needsPrlimit = { skip: !existsSync(prlimit) && 'prlimit is not installed' };

test(
  'a server survives idle connections that use up its descriptors, and serves requests afterwards',
  needsPrlimit,
  async (t) => {
    const { url, child, output } = await startProgram(t, ['--profiles', 'M,history,metrics'], { cwd: createFolder(t) });
    const readStatus = async (path: string): Promise<number> => (await fetch(`${url}${path}`)).status;
    assert.equal(await readStatus('/api/health'), 200);
    // The limit is set from outside, because a limit set before startup may lower the number of accepted connections.
    execFileSync(prlimit, ['--pid', String(child.pid), `--nofile=${limit}:${limit}`]);
    const idle = Array.from({ length: 2 * limit }, () =>
      connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined),
    );
    t.after(() => idle.forEach((socket) => void socket.destroy()));
    await Promise.race([once(child, 'exit'), setTimeout(samplingMs)]);
    for (const socket of idle) socket.destroy();
    assert.equal(child.exitCode, null, output.stderr);
    for (const path of ['/health', '/api/health', '/api/history', '/metrics']) {
      await waitUntilPasses(async () => assert.equal(await readStatus(path), 200));
    }
  },
);
