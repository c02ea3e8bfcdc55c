import type { Heartbeat, HeartbeatDefinition } from 'signalbox/client';
import { readSchedule, type ScheduleDraft, toScheduleDraft } from '../live/schedule.ts';
import { readList, readNumber } from '../live/submission.ts';
import { heartbeatTexts as words } from '../strings/heartbeats.ts';
import { zone } from '../zone.ts';

/** Schedule modes of the form. */
export const heartbeatModes = ['every', 'weekly', 'cron'] as const;

/** Units of the period in seconds, with the largest unit last. */
export const periodUnits = ['1', '60', '3600', '86400'] as const;

/** Form state. */
export interface HeartbeatDraft extends ScheduleDraft {
  name: string;
  mode: (typeof heartbeatModes)[number];
  count: string;
  unit: string;
  /** Minutes. */
  grace: string;
  longest: string;
  level: string;
  description: string;
  tags: string;
  dependsOn: string;
  isOpen: boolean;
}

export const blankHeartbeat = (): HeartbeatDraft => ({
  name: '',
  mode: 'every',
  count: '1',
  unit: '86400',
  days: [],
  time: '',
  expression: '',
  timeZone: zone.value,
  grace: '',
  longest: '',
  level: '',
  description: '',
  tags: '',
  dependsOn: '',
  isOpen: false,
});

export const toHeartbeatDraft = (heartbeat: Heartbeat): HeartbeatDraft => {
  const { name, period, schedule, timeZone, grace, maxRunMinutes, level, description, tags, dependsOn, open } =
    heartbeat;
  const about = {
    ...blankHeartbeat(),
    name,
    level: level === 'ERROR' ? '' : level,
    description,
    tags: tags.join(', '),
    dependsOn: dependsOn.join(', '),
    isOpen: open,
    grace: grace === null ? '' : String(grace / 60),
    longest: String(maxRunMinutes ?? ''),
  };
  if (period !== null) {
    const unit = periodUnits.findLast((each) => period % Number(each) === 0) ?? '1';
    return { ...about, mode: 'every', count: String(period / Number(unit)), unit };
  }
  return { ...about, ...toScheduleDraft(schedule ?? '', timeZone) };
};

/** Returns the request body for a draft. Throws an Error with a message for the user. */
export const toHeartbeatDefinition = (draft: HeartbeatDraft): HeartbeatDefinition => {
  const { level, description, tags, isOpen } = draft;
  const grace = readNumber(words.graceField, draft.grace);
  const longest = readNumber(words.longestField, draft.longest);
  const named = readList(tags);
  const dependsOn = readList(draft.dependsOn);
  return {
    ...toTimes(draft),
    ...(grace !== undefined && { grace: Math.round(grace * 60) }),
    ...(longest !== undefined && { maxRunMinutes: longest }),
    ...(level !== '' && { level: level as NonNullable<HeartbeatDefinition['level']> }),
    ...(description.trim() !== '' && { description: description.trim() }),
    ...(named.length > 0 && { tags: named }),
    ...(dependsOn.length > 0 && { dependsOn }),
    ...(isOpen && { open: true }),
  };
};

const toTimes = (draft: HeartbeatDraft): HeartbeatDefinition => {
  if (draft.mode !== 'every') return readSchedule(draft);
  return { period: Math.round((readNumber(words.period, draft.count) ?? 0) * Number(draft.unit)) };
};
