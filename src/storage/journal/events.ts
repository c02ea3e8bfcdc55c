/** What happens to a journal beside appends; for the program's own log. */
export type JournalEvent =
  /** An incomplete last line was moved to the file `savedAs`. */
  | { type: 'tail-cut'; bytes: number; savedAs: string }
  /** A write or sync failed: nothing is acknowledged until `recovered`. */
  | { type: 'failed'; error: Error }
  | { type: 'recovered' }
  /** The file was renamed, removed, replaced or changed by someone else, and opened anew. */
  | { type: 'reopened' }
  /** Old segments were deleted, as the retention settings ask. */
  | { type: 'segments-removed'; files: string[] }
  /** A listing met more damaged lines than any listing before. */
  | { type: 'damaged-lines'; lines: number };

export type Report = (event: JournalEvent) => void;
