import { basename, isAbsolute } from 'node:path';
import { runChild } from '../../../host/child.ts';
import { defineWatchType, type Finding } from '../watch-type.ts';
import { toSeenText } from './phases.ts';

/** Maximum size in bytes of the output. Plugins usually print a few hundred. */
const maxOutputBytes = 64 * 1024;

/** Maximum length of performance data in characters. The pattern takes quadratic time. */
const maxDataLength = 8192;

/** Maximum number of performance values shown. */
const maxValues = 20;

/**
 * Runs a Nagios or Icinga plugin. Exit code 0 means OK, 1 WARNING, 2 CRITICAL, and any other code unknown. The whole
 * process group ends with the check. A plugin that does not end, or that prints too much, is unknown.
 */
export const pluginWatch = defineWatchType({
  name: 'plugin',
  scope: () => 'machine',
  usesNetworkSlot: true,
  keys: ['command'],
  required: ['command'],
  limit: 'none',
  every: 60,
  describeGone: (thing) => `the plugin no longer reports ${thing}`,
  findProblem: ({ command: [program = ''] = [] }) =>
    isAbsolute(program) ? undefined : 'command must begin with an absolute path',
  check: async ({ command: [program = '', ...args] = [] }, _readings, signal) => {
    const { exitCode, output, stderr } = await run(program, args, signal);
    const name = basename(program);
    const { text, more, values } = parseOutput(output);
    const words = text || toSeenText(stderr) || `${name} printed nothing`;
    const seen = { timings: null, failed: null, text: toSeenText(more) || null };
    const shown = values.filter(({ thing }) => thing !== name);
    if (exitCode === 0 || exitCode === 1 || exitCode === 2)
      return [{ thing: name, isBad: exitCode > 0, isCritical: exitCode === 2, words, seen }, ...shown];
    const reason =
      exitCode === 3 ? words : `${words} (${exitCode === null ? 'terminated by a signal' : `exit code ${exitCode}`})`;
    return [{ thing: name, isUnknown: true, words: reason, seen }, ...shown];
  },
});

/** Runs a program. Rejects with an Error whose message is the reason. */
const run = async (program: string, args: readonly string[], signal: AbortSignal) => {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const onOutput = (piece: Buffer): boolean => {
    pieces.push(piece);
    bytes += piece.length;
    return bytes <= maxOutputBytes;
  };
  const end = await runChild({ program, args, onOutput, signal }).catch((error: NodeJS.ErrnoException) => {
    if (signal.aborted) throw new Error(`${program} did not end in time`);
    throw new Error(`${program} cannot be started (${error.code ?? error.message})`);
  });
  if (bytes > maxOutputBytes) throw new Error(`${program} printed more than ${maxOutputBytes / 1024} KiB`);
  return { ...end, output: Buffer.concat(pieces).toString() };
};

/**
 * Parses the output of a plugin. It consists of a line of text, followed by performance data after a bar. More text may
 * follow, with more performance data after another bar.
 */
export const parseOutput = (output: string): { text: string; more: string; values: Finding[] } => {
  const [first = '', ...rest] = output.split('\n');
  const [text = '', data = ''] = splitAtBar(first);
  const [more = '', moreData = ''] = splitAtBar(rest.join('\n'));
  return { text: toSeenText(text), more, values: parseValues(`${data} ${moreData}`.slice(0, maxDataLength)) };
};

const splitAtBar = (text: string): string[] => {
  const bar = text.indexOf('|');
  return bar < 0 ? [text] : [text.slice(0, bar), text.slice(bar + 1)];
};

/** Parses performance data, such as `load1=0.52;4;8;0 '/ used'=91%`. */
const parseValues = (data: string): Finding[] => {
  const values = new Map<string, Finding>();
  for (const [, quoted, plain = '', number, unit = ''] of data.matchAll(
    /(?:'((?:[^']|'')+)'|([^\s'=]+))=(-?\d+(?:\.\d+)?)([^\s;\d]*)/g,
  )) {
    const thing = toSeenText(quoted?.replaceAll("''", "'") ?? plain);
    if (values.size >= maxValues || thing === '') continue;
    values.set(thing, {
      thing,
      isBad: false,
      figure: Number(number),
      words: `${thing} is ${number}${unit.slice(0, 20)}`,
    });
  }
  return [...values.values()];
};
