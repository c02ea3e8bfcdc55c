import type { Severity } from './severity.ts';

/** What a concern can be about; of two that are equally bad, the one of the earlier area comes first. */
export const concernAreas = ['alerts', 'deliveries', 'stores', 'log', 'host'] as const;

/** Something that needs somebody's attention now. */
export interface Concern {
  area: (typeof concernAreas)[number];
  severity: Severity;
  /** One sentence for people. Everyone who may read the health sees it, so it has counts, not names from other screens. */
  text: string;
}
