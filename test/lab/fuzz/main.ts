import { parseArgs } from 'node:util';
import { keepCase } from './support/corpus.ts';
import { requestsPerRound, runRound } from './support/rounds.ts';

/** Sends the given number of requests, and stores its findings in test/lab/fuzz/corpus. */
const { values } = parseArgs({
  options: { seed: { type: 'string' }, requests: { type: 'string' }, from: { type: 'string' } },
});
const seed = Number(values.seed ?? Date.now() % 2 ** 31);
const requests = Number(values.requests ?? 1_000_000);
/** First round. Starting at a round with a finding repeats that round. */
const from = Number(values.from ?? 0);
if (![seed, requests, from].every(Number.isSafeInteger)) throw new Error('seed, requests and from are numbers');

const mostFindings = 10;
const progressEvery = 10 * requestsPerRound;
const began = Date.now();
const totals = new Map<number, number>();
let findings = 0;
let sent = 0;

const describe = (): string => {
  const seconds = (Date.now() - began) / 1000;
  return `${sent} of ${requests} requests in ${seconds.toFixed(0)} s, findings: ${findings}`;
};

process.stdout.write(`seed ${seed}\n`);
for (let index = from; sent < requests && findings < mostFindings; index += 1) {
  const { statuses, found } = await runRound(seed, index, Math.min(requestsPerRound, requests - sent));
  for (const [status, count] of statuses) {
    totals.set(status, (totals.get(status) ?? 0) + count);
    sent += count;
  }
  if (found) {
    findings += 1;
    const path = keepCase(`found-${seed}-${index}`, found);
    process.stdout.write(
      `${found.why}\n  kept as ${path}\n  again with: npm run fuzz -- --seed ${seed} --from ${index}\n`,
    );
  } else if (sent % progressEvery === 0) process.stdout.write(`${describe()}\n`);
}
const counts = [...totals].sort(([one], [other]) => one - other).map(([status, count]) => `${status}: ${count}`);
process.stdout.write(`\nseed ${seed}, ${describe()}\nresponses by status (0: none): ${counts.join(', ')}\n`);
process.exitCode = findings > 0 ? 1 : 0;
