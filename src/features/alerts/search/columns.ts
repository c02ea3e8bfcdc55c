/** Columns of an alert file: the search's fields. */
export const alertColumns = [
  'time',
  'severity',
  'level',
  'status',
  'source',
  'hostname',
  'message',
  'details',
  'labels',
  'link',
  'sender',
  'format',
  'incident',
  'id',
] as const;

type AlertCells = Readonly<Record<(typeof alertColumns)[number], unknown>>;

/** Returns an alert's cells in column order; its incident is given as a number. */
export const toAlertCells = (alert: AlertCells): unknown[] =>
  alertColumns.map((name) => {
    const { [name]: value } = alert;
    return name === 'incident' ? (value as { number: number } | null)?.number : value;
  });
