import { ownSender } from '../../../kit/alert-record.ts';
import type { SharedIncident } from '../../../kit/incident.ts';
import type { IncidentHold, IncidentSource, SharedAction } from '../../../kit/incident-source.ts';
import { rankOf } from '../../../kit/severity.ts';
import type { SilenceSource } from '../../../kit/silence-source.ts';
import type { Escalations } from '../escalation/escalations.ts';
import { isReportAbout } from '../queue/failure-reports.ts';
import type { IncidentDestination } from './incident-destination.ts';
import type { OnCallSource } from './next-change.ts';
import { addressOf, type NotificationPlan, planNotification } from './plan.ts';

/** Silences and causes that keep an incident from notifying. */
export interface Blocks {
  silencedBy: readonly string[];
  hold: IncidentHold | undefined;
}

interface PlannerParts {
  source: Pick<IncidentSource, 'findHold'>;
  silences: Pick<SilenceSource, 'silencesOf'>;
  onCall: Pick<OnCallSource, 'isOnCall'>;
  escalations: Pick<Escalations, 'governs' | 'isNotOnCall' | 'isStarting'>;
}

/** Decides when a destination is notified of an incident, given its blocks, the people on call and the time. */
export class IncidentPlanner {
  readonly #parts: PlannerParts;

  constructor(parts: PlannerParts) {
    this.#parts = parts;
  }

  /** Returns what blocks the notifications of an incident, whatever the destination. */
  findBlocks(incident: SharedIncident, now: number): Blocks {
    const { source, hostname, level, title, labels } = incident;
    return {
      silencedBy: this.#parts.silences.silencesOf({ source, hostname, level, text: title, labels }, now),
      hold: this.#parts.source.findHold(incident),
    };
  }

  plan(
    incident: SharedIncident,
    destination: IncidentDestination,
    now: number,
    { silencedBy, hold } = this.findBlocks(incident, now),
  ): NotificationPlan {
    const { name, definition } = destination;
    const last = incident.notices[name];
    // A failing destination is not notified of its own failure.
    if (isReportAbout(incident.sender, incident.about, name)) return last && 'forget';
    // The receiver definitely did not get the opening, so it does not get the resolution either.
    if (last?.isPending && incident.state === 'resolved' && destination.hasFailed(incident.id)) return 'forget';
    const { onCall, escalations } = this.#parts;
    const isGoverned = escalations.governs(incident, definition, now);
    // The first step follows immediately and reaches everyone that the rise in level concerns.
    if (isGoverned && escalations.isStarting(incident, now)) return undefined;
    const isOnCall = definition.way
      ? !escalations.isNotOnCall(incident, definition.way, now)
      : onCall.isOnCall(name, now);
    const address = addressOf(incident, definition);
    const circumstances = {
      now,
      isOnCall,
      isSilenced: silencedBy.length > 0,
      heldUntil: hold?.until,
      address,
      isGoverned,
    };
    return planNotification(incident, last, definition.rules, circumstances);
  }
}

/** Lists the actions that record an incident's blocks in its timeline. Empty if the blocks are already recorded. */
export const listBlockActions = (incident: SharedIncident, { silencedBy, hold }: Blocks): SharedAction[] => {
  const { id } = incident;
  const [silence] = silencedBy;
  return [
    ...(silence !== undefined && isSilenceUnrecorded(incident)
      ? [{ type: 'silence' as const, id, by: `silence ${silence}` }]
      : []),
    ...(hold?.cause && isCauseUnrecorded(incident, hold.cause.id)
      ? [{ type: 'inhibit' as const, id, by: ownSender, cause: hold.cause }]
      : []),
  ];
};

/** True if the timeline has recorded no silence since the incident opened or its level last rose. */
const isSilenceUnrecorded = ({ isOld, state, silenced, openings, level }: SharedIncident): boolean =>
  !isOld && state === 'open' && (silenced?.opening !== openings || rankOf(level) < rankOf(silenced.level));

/** True if the timeline has not yet recorded the cause in this opening. */
const isCauseUnrecorded = ({ isOld, state, inhibited, openings }: SharedIncident, cause: string): boolean =>
  !isOld && state !== 'resolved' && (inhibited?.opening !== openings || inhibited.cause.id !== cause);
