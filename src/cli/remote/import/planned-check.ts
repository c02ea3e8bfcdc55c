import { isDeepStrictEqual } from 'node:util';
import type { HeartbeatBody } from '../../../features/heartbeats/definition.ts';
import type { Heartbeat } from '../../../features/heartbeats/schema.ts';
import type { WatchSettings } from '../../../features/watches/schema.ts';
import type { JsonCondition } from '../../../features/watches/type-settings.ts';
import type { Asking, ListReply } from '../ask.ts';
import type { ImportPlan, PlannedChange } from './changes.ts';
import { createImportedNames } from './imported-names.ts';

/** Watch without its name. */
export type WatchDraft = Omit<WatchSettings, 'name'>;

/** Result of a conversion: a watch, a heartbeat, or the reason why neither is created. */
export type ConvertedCheck =
  | { watch: WatchDraft; notes?: string[] }
  | { heartbeat: HeartbeatBody; isPaused?: boolean; notes?: string[] }
  | string;

/** Note about a header with a login. */
export const visibleLogin = 'anyone with access to watches can read the header Authorization';

/** JSON comparisons, by the operators that other programs use for them. */
export const comparisons: Record<string, JsonCondition['is'] | undefined> = {
  '==': '=',
  '!=': '!=',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
};

/** Collects converted checks in a plan, each with a unique name. */
export class CheckPlan {
  readonly changes: PlannedChange[] = [];
  readonly leftOut: string[] = [];
  readonly #toName = createImportedNames();

  /** Adds a check, or the reason why it cannot be converted. */
  add(original: string, convert: () => ConvertedCheck): void {
    const converted = tryToConvert(convert);
    if (typeof converted === 'string') {
      this.leftOut.push(`check ${original}: ${converted}`);
      return;
    }
    const { name, note } = this.#toName(original);
    const isPaused = 'heartbeat' in converted && converted.isPaused === true;
    const notes = [
      ...(note === undefined ? [] : [note]),
      ...(converted.notes ?? []),
      ...(isPaused ? ['is paused'] : []),
    ];
    const detail = notes.join('; ');
    if ('watch' in converted) {
      const request = { method: 'POST', path: 'api/watches', body: { name, ...converted.watch } } as const;
      this.changes.push({ action: 'create', what: 'watch', name, detail, requests: [request] });
    } else {
      const path = `api/heartbeats/${encodeURIComponent(name)}`;
      const request = { method: 'PUT', path, body: converted.heartbeat } as const;
      const requests = isPaused ? [request, { method: 'POST', path: `${path}/pause` } as const] : [request];
      // An import must not leave a paused heartbeat live.
      const undo = { method: 'DELETE', path } as const;
      this.changes.push({ action: 'create', what: 'heartbeat', name, detail, requests, undo });
    }
  }

  /**
   * Returns the plan for a server. Existing settings stay unchanged, but a heartbeat that an interrupted import has left
   * live is paused.
   */
  async compare({ ask }: Pick<Asking, 'ask'>): Promise<ImportPlan> {
    const watches = (await ask<ListReply<{ name: string }>>('api/watches')).data;
    const heartbeats = (await ask<ListReply<Heartbeat>>('api/heartbeats')).data;
    const changes = this.changes.map((change): PlannedChange => {
      const { requests = [], undo: _, ...existing } = change;
      const [create, pause] = requests;
      if (change.what === 'watch')
        return watches.some(({ name }) => name === change.name) ? { ...existing, action: 'unchanged' } : change;
      const heartbeat = heartbeats.find(({ name }) => name === change.name);
      if (!heartbeat) return change;
      return pause && isLeftLive(heartbeat, create?.body ?? {})
        ? { ...existing, action: 'replace', requests: [pause] }
        : { ...existing, action: 'unchanged' };
    });
    return { changes, leftOut: this.leftOut };
  }
}

/** True if a heartbeat has its planned definition, and was neither paused, resumed nor pinged. */
const isLeftLive = (heartbeat: Heartbeat, planned: object): boolean =>
  heartbeat.pausedAt === null &&
  // Undefined in version 1.1.0.
  (heartbeat.resumedAt ?? null) === null &&
  heartbeat.lastPingAt === null &&
  Object.entries(planned).every(([name, value]) => isDeepStrictEqual(heartbeat[name as keyof Heartbeat], value));

const tryToConvert = (convert: () => ConvertedCheck): ConvertedCheck => {
  try {
    return convert();
  } catch (error) {
    return `the check cannot be converted: ${(error as Error).message.split('\n', 1)[0]}`;
  }
};
