import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Acknowledged } from './clients.ts';

export interface Line {
  message: string;
  id: string;
  seq: number;
}

export interface Verdict {
  acknowledged: number;
  lost: string[];
  duplicated: string[];
  /** Messages that appear before an earlier acknowledged message of their client. */
  misplaced: string[];
}

/** Returns all complete lines of the log that are JSON, closed segments first. */
export const readLog = (dataDir: string): Line[] => {
  const names = readdirSync(dataDir).filter((name) => /^alerts(\.\d+)?\.jsonl$/.test(name));
  const ordered = names.sort((a, b) => Number(a === 'alerts.jsonl') - Number(b === 'alerts.jsonl') || (a < b ? -1 : 1));
  return ordered.flatMap((name) => readLines(join(dataDir, name)));
};

/** Returns all lines of a file that are JSON. */
export const readLines = (path: string): Line[] => readFileSync(path, 'utf8').split('\n').flatMap(toLine);

/**
 * Compares acknowledged alerts with the log. Each inner list contains the alerts of one client in the order of the
 * responses.
 */
export const compare = (acknowledged: readonly Acknowledged[][], lines: readonly Line[]): Verdict => {
  const places = new Map<string, number[]>();
  for (const [place, { id }] of lines.entries()) places.set(id, [...(places.get(id) ?? []), place]);
  const verdict: Verdict = { acknowledged: 0, lost: [], duplicated: [], misplaced: [] };
  for (const client of acknowledged) {
    let last = -1;
    for (const { message, id } of client) {
      const [place, ...more] = places.get(id) ?? [];
      verdict.acknowledged++;
      if (place === undefined || lines[place]?.message !== message) verdict.lost.push(message);
      else if (place < last) verdict.misplaced.push(message);
      if (more.length > 0) verdict.duplicated.push(message);
      last = place ?? last;
    }
  }
  return verdict;
};

const toLine = (text: string): Line[] => {
  try {
    const line: unknown = JSON.parse(text);
    return typeof line === 'object' && line !== null && 'message' in line ? [line as Line] : [];
  } catch {
    return [];
  }
};
