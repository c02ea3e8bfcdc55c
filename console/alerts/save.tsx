import type { AlertEntry } from 'signalbox/client';
import { alertColumns, toAlertCells } from '../../src/features/alerts/search/columns.ts';
import { toCsv } from '../../src/lib/csv.ts';
import { client } from '../api.ts';
import { toCount } from '../format.ts';
import { useSubmission } from '../live/submission.ts';
import { text } from '../strings/index.ts';
import { download } from '../ui/download.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { notify } from '../ui/toast.tsx';
import { alertFilter } from './filter.ts';

const words = text.alerts;

/** Maximum number of alerts in a CSV file, to limit memory. */
const mostSaved = 20_000;

/** Downloads all alerts that match the filters as CSV, newest first. */
export const SaveButton = () => {
  const { error, isDisabled, onSubmit } = useSubmission(async () => {
    const { alerts, isWhole } = await readAlerts();
    download('alerts.csv', 'text/csv', toCsv([alertColumns, ...alerts.map(toAlertCells)]));
    if (!isWhole) notify(words.savedPart(toCount(alerts.length)));
  });
  return (
    <>
      <IconButton icon="download" label={words.save} isDisabled={isDisabled} onClick={onSubmit} />
      {error && <p role="alert">{error}</p>}
    </>
  );
};

const readAlerts = async () => {
  const alerts: AlertEntry[] = [];
  const { before, ...filter } = alertFilter.read();
  let next = before === undefined ? undefined : Number(before);
  do {
    const begin = next === undefined ? {} : { before: next };
    const page = await client.searchAlerts({ ...filter, ...begin, limit: 1000 });
    alerts.push(...page.data);
    if (page.next === null) return { alerts, isWhole: true };
    next = page.next;
  } while (alerts.length < mostSaved);
  return { alerts: alerts.slice(0, mostSaved), isWhole: false };
};
