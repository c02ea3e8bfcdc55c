/** Columns of an alert file, which are the fields of a search result. */
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

/** Returns an alert's cells in column order. The incident is given by its number. */
export const toAlertCells = (alert: AlertCells): unknown[] =>
  alertColumns.map((name) => {
    const { [name]: value } = alert;
    return name === 'incident' ? (value as { number: number } | null)?.number : value;
  });
