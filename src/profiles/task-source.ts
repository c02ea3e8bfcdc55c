/** What the tasks feature offers to features that create tasks. */
export interface TaskSource {
  /** Creates a task and resolves to its id; with the same key, for 24 hours, to that of the first one. */
  create(
    fields: { Title: string; Description: string; Priority: 'Low' | 'Medium' | 'High' | 'Critical' },
    key: string,
  ): Promise<number>;
}
