import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFolder } from './folder.ts';
import { findFreePort } from './free-port.ts';
import { atEnd, type Scope } from './scope.ts';
import { waitUntil } from './wait.ts';

/** Returns the output of promtool for a string on its standard input, and its exit code. */
export const runPromtool = (args: string[], input = ''): Promise<{ code: number; output: string }> =>
  new Promise((resolve) => {
    const child = execFile('promtool', args, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr });
    });
    child.stdin?.end(input);
  });

export interface Prometheus {
  /** Returns the data in a response from Prometheus, e.g. from `/api/v1/rules`. */
  ask<T>(path: string): Promise<T>;
  /** Returns the current values of a query, by label. */
  query(expression: string): Promise<{ metric: Record<string, string>; value: number }[]>;
}

/** Starts a real Prometheus with this configuration on a free port. It is stopped when the test ends. */
export const startPrometheus = async (t: Scope, config: string): Promise<Prometheus> => {
  const folder = createFolder(t);
  const file = join(folder, 'prometheus.yml');
  writeFileSync(file, config);
  const port = await findFreePort();
  const child = spawn(
    'prometheus',
    [`--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'tsdb')}`, `--web.listen-address=127.0.0.1:${port}`],
    { stdio: 'ignore' },
  );
  const ended = once(child, 'exit');
  atEnd(t, async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  await waitUntil('Prometheus is ready', async () => {
    const response = await fetch(`${url}/-/ready`).catch(() => undefined);
    await response?.body?.cancel();
    return response?.ok ?? false;
  });
  const ask = async <T>(path: string): Promise<T> => {
    const response = await fetch(url + path);
    const { status, data, error } = (await response.json()) as { status: string; data: T; error?: string };
    if (status !== 'success') throw new Error(`${path}: ${error}`);
    return data;
  };
  return {
    ask,
    query: async (expression) => {
      type Result = { result: { metric: Record<string, string>; value: [number, string] }[] };
      const { result } = await ask<Result>(`/api/v1/query?query=${encodeURIComponent(expression)}`);
      return result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
    },
  };
};
