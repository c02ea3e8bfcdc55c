/** Events of a journal other than appends, for the program's own log. */
export type JournalEvent =
  /** An incomplete last line was moved to the file `savedAs`. */
  | { type: 'tail-cut'; bytes: number; savedAs: string }
  /** A write or sync failed. Further failures are not reported until `recovered`. */
  | { type: 'failed'; error: Error }
  /** Records are stored again. */
  | { type: 'recovered' }
  /** Another program renamed, removed, replaced or changed the file, and it was opened again. */
  | { type: 'reopened' }
  /** Segments were deleted according to the retention settings. */
  | { type: 'segments-removed'; files: string[] }
  /** A listing found more damaged lines than any before. */
  | { type: 'damaged-lines'; lines: number };

export type Report = (event: JournalEvent) => void;
