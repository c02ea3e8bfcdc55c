/** Columns of a file of alerts, named as the search names them. */
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

/** Cells of an alert in the order of the columns; its incident is a number. */
export const toAlertCells = (alert: AlertCells): unknown[] =>
  alertColumns.map((name) => {
    const { [name]: value } = alert;
    return name === 'incident' ? (value as { number: number } | null)?.number : value;
  });
