import type { Heartbeat, HeartbeatDefinition } from 'signalbox/client';
import { toCron, toWeekly } from '../live/schedule.ts';
import { heartbeats as words } from '../strings/heartbeats.ts';
import { zone } from '../zone.ts';

/** How the form says when it is expected. */
export const modes = ['every', 'weekly', 'cron'] as const;

/** Seconds of what a period is counted in, the largest last. */
export const periodUnits = ['1', '60', '3600', '86400'] as const;

/** What is typed into the form. */
export interface Draft {
  name: string;
  mode: (typeof modes)[number];
  count: string;
  unit: string;
  days: readonly number[];
  time: string;
  expression: string;
  timeZone: string;
  /** Minutes. */
  grace: string;
  longest: string;
  level: string;
  description: string;
  tags: string;
  isOpen: boolean;
}

export const blankDraft = (): Draft => ({
  ...{ name: '', mode: 'every', count: '1', unit: '86400', days: [], time: '', expression: '', timeZone: zone.value },
  ...{ grace: '', longest: '', level: '', description: '', tags: '', isOpen: false },
});

/** One that is changed. */
export const toDraft = (heartbeat: Heartbeat): Draft => {
  const { name, period, schedule, timeZone, grace, maxRunMinutes, level, description, tags, open } = heartbeat;
  const about = {
    ...{ ...blankDraft(), name, level: level === 'ERROR' ? '' : level, description, tags: tags.join(', ') },
    ...{ isOpen: open, grace: grace === null ? '' : String(grace / 60), longest: String(maxRunMinutes ?? '') },
  };
  if (period !== null) {
    const unit = periodUnits.findLast((each) => period % Number(each) === 0) ?? '1';
    return { ...about, mode: 'every', count: String(period / Number(unit)), unit };
  }
  const expression = schedule ?? '';
  const weekly = toWeekly(expression);
  const recurring = { ...about, expression, timeZone: timeZone ?? '' };
  return weekly ? { ...recurring, ...weekly, mode: 'weekly' } : { ...recurring, mode: 'cron' };
};

/** What is sent. Throws an Error that can be shown. */
export const toDefinition = (draft: Draft): HeartbeatDefinition => {
  const { level, description, tags, isOpen } = draft;
  const grace = toNumber(words.graceField, draft.grace);
  const longest = toNumber(words.longestField, draft.longest);
  const named = tags.split(',').flatMap((tag) => tag.trim() || []);
  return {
    ...toTimes(draft),
    ...(grace !== undefined && { grace: Math.round(grace * 60) }),
    ...(longest !== undefined && { maxRunMinutes: longest }),
    ...(level !== '' && { level: level as NonNullable<HeartbeatDefinition['level']> }),
    ...(description.trim() !== '' && { description: description.trim() }),
    ...(named.length > 0 && { tags: named }),
    ...(isOpen && { open: true }),
  };
};

const toTimes = ({ mode, count, unit, days, time, expression, timeZone }: Draft): HeartbeatDefinition => {
  if (mode === 'every') return { period: Math.round((toNumber(words.period, count) ?? 0) * Number(unit)) };
  if (mode === 'weekly' && (days.length === 0 || time === '')) throw new Error(words.noDays);
  const schedule = mode === 'weekly' ? toCron({ days, time }) : expression.trim();
  return { schedule, ...(timeZone.trim() !== '' && { timeZone: timeZone.trim() }) };
};

/** Undefined where nothing is typed. */
const toNumber = (label: string, typed: string): number | undefined => {
  if (typed.trim() === '') return undefined;
  const value = Number(typed.trim().replace(',', '.'));
  if (!Number.isFinite(value)) throw new Error(words.badNumber(label));
  return value;
};
