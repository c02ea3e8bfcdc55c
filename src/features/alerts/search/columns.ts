/** Columns of an alert file. They are the fields of a search result. */
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

/** Returns the cells of an alert in column order. The cell for the incident contains its number. */
export const toAlertCells = (alert: AlertCells): unknown[] =>
  alertColumns.map((name) => {
    const { [name]: value } = alert;
    return name === 'incident' ? (value as { number: number } | null)?.number : value;
  });
