import { HttpError } from '../../http/errors.ts';
import { parseTime } from '../../http/text-forms.ts';
import { toTimeText } from '../../kit/time.ts';
import { roundFigureOrNull } from '../../lib/rounding.ts';
import { type DiskColumns, diskColumnsAt, valueColumns } from './columns.ts';
import type { Fleet } from './fleet.ts';
import { align, findRing, rings } from './rings.ts';
import type { HostHistory } from './schema.ts';

interface Span {
  step: number;
  /** Unix times of the first and last step. */
  from: number;
  to: number;
}

/** Returns the requested range of steps. Throws an HttpError if the range is invalid. */
export const readHistorySpan = (query: { from?: string; until?: string; step?: number }, now: number): Span => {
  const until = query.until === undefined ? now : toSeconds('until', query.until);
  const from = query.from === undefined ? until - 3600 : toSeconds('from', query.from);
  if (from > until) throw new HttpError('invalid', 'from must not be after until');
  const covering = rings.find(({ step: each, size }) => now - from <= each * size) ?? rings[2];
  const { step, size } = query.step === undefined ? covering : findRing(query.step);
  const to = align(Math.min(until, now), step);
  return { step, from: Math.max(align(from + step - 1, step), align(now, step) - (size - 1) * step), to };
};

const toSeconds = (name: string, text: string): number => {
  const seconds = /^\d{1,15}$/.test(text) ? Number(text) : parseTime(text) / 1000;
  if (Number.isNaN(seconds)) {
    throw new HttpError('invalid', `${name} must be a time such as 2026-01-31T09:30:00Z, or Unix seconds`);
  }
  return Math.floor(seconds);
};

/** Reads the history of a host within a span. */
export const readHistory = async (fleet: Fleet, name: string, { step, from, to }: Span): Promise<HostHistory> => {
  const count = Math.max(0, (to - from) / step + 1);
  const rows = count === 0 ? [] : await fleet.readRows(name, step, from, to);
  const list = (column: number, since = 0): (number | null)[] => {
    const values: (number | null)[] = Array.from({ length: count }, () => null);
    for (const { time, values: row } of rows)
      if (time + step > since) values[(time - from) / step] = roundFigureOrNull(row[column] as number);
    return values;
  };
  const disks: readonly DiskColumns[] = fleet.find(name)?.disks ?? [];
  return {
    step,
    start: toTimeText(from * 1000),
    count,
    ...(Object.fromEntries(valueColumns.map((each, column) => [each, list(column)])) as Record<
      (typeof valueColumns)[number],
      (number | null)[]
    >),
    disks: disks.map(({ mountPath, since }, place) => {
      const column = diskColumnsAt + 2 * place;
      return { mountPath, used: list(column, since), total: list(column + 1, since) };
    }),
  };
};
