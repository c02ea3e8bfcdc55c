import { serverNow } from '../clock.ts';
import { fromTyped, toTyped } from '../zone.ts';

/** Number of weeks shown at a time. */
const shownWeeks = 4;

const dayMs = 86_400_000;

/** Shift or gap in milliseconds. Infinite if unknown. */
export interface ShownPeriod {
  start: number;
  end: number;
}

/**
 * Returns the beginnings of the days in four weeks in the displayed zone, followed by the end of the last day. `page` 0
 * begins on Monday of this week.
 */
export const listDays = (page: number): number[] => {
  const today = Date.parse(`${toTyped(serverNow()).slice(0, 10)}T00:00Z`);
  const monday = today - ((new Date(today).getUTCDay() + 6) % 7) * dayMs;
  const first = monday + page * shownWeeks * 7 * dayMs;
  return Array.from({ length: shownWeeks * 7 + 1 }, (_, index) =>
    fromTyped(new Date(first + index * dayMs).toISOString().slice(0, 16)),
  );
};

/**
 * Returns the left edge and the width of a span within a week, in percent. Undefined if the span is outside the week.
 */
export const placeIn = (
  { start, end }: ShownPeriod,
  days: readonly number[],
): { left: number; width: number } | undefined => {
  const toPercent = (at: number): number => {
    const index = days.findLastIndex((day) => day <= at);
    const [day = at, next] = [days[index], days[index + 1]];
    if (index < 0) return 0;
    return next === undefined ? 100 : ((index + (at - day) / (next - day)) * 100) / (days.length - 1);
  };
  const [left, right] = [toPercent(start), toPercent(end)];
  return right > left ? { left, width: right - left } : undefined;
};
