import type { Heartbeat } from 'signalbox/client';
import { toAddress } from '../api.ts';
import { findRoute } from '../routes.ts';

/** A job's ping address. */
export interface PingAddress {
  url: string;
  /** True for an address that contains the heartbeat's name. Such an address requires a key. */
  isByName: boolean;
}

/** Returns the ping address, based on the address in the browser. Undefined if pings are not mounted. */
export const toPingAddress = ({ uuid, name }: Pick<Heartbeat, 'uuid' | 'name'>): PingAddress | undefined => {
  const path = findRoute('ping')?.path;
  if (path === undefined) return undefined;
  return { url: toAddress(path.replace('{address}', uuid ?? name)), isByName: uuid === null };
};

export const toBadgeAddress = ({ name }: Pick<Heartbeat, 'name'>): string | undefined => {
  const path = findRoute('getHeartbeatBadge')?.path;
  return path && toAddress(path.replace('{name}', name));
};

export const recipeKinds = ['cron', 'systemd', 'powershell', 'curl'] as const;
export type RecipeKind = (typeof recipeKinds)[number];

/** Lines to paste. */
export const toRecipe = (kind: RecipeKind, { url, isByName }: PingAddress, heartbeat: Heartbeat): string => {
  const header = isByName ? ' -H "Authorization: Bearer $SIGNALBOX_KEY"' : '';
  const curl = `curl -fsS -m 10 --retry 5${header}`;
  switch (kind) {
    case 'cron':
      return `${toCronTimes(heartbeat)} backup.sh; ${curl} ${url}/$?`;
    case 'systemd': {
      // systemd requires dollar signs to be doubled.
      const command = `backup.sh; code=$?; ${curl} ${url}/$code; exit $code`;
      return `ExecStart=/bin/sh -c '${command.replaceAll('$', '$$$$')}'`;
    }
    case 'powershell': {
      const headers = isByName ? ' -Headers @{ Authorization = "Bearer $env:SIGNALBOX_KEY" }' : '';
      return `& backup.cmd; Invoke-RestMethod "${url}/$LASTEXITCODE"${headers}`;
    }
    case 'curl':
      return [`${curl} ${url}/start`, 'output=$(backup.sh 2>&1)', `${curl} --data-raw "$output" ${url}/$?`].join('\n');
  }
};

const minute = 60;
const hour = 60 * minute;

/** Returns the cron fields for the schedule. */
const toCronTimes = ({ schedule, period }: Heartbeat): string => {
  if (schedule !== null) return schedule;
  const seconds = period ?? 0;
  if (seconds <= minute) return '* * * * *';
  if (seconds < hour) return `*/${Math.floor(seconds / minute)} * * * *`;
  if (seconds < 24 * hour) return seconds < 2 * hour ? '0 * * * *' : `0 */${Math.floor(seconds / hour)} * * *`;
  return '0 2 * * *';
};
