import { client } from '../api.ts';
import { toMinute } from '../format.ts';
import { useResource } from '../live/resource.ts';
import { isAllowed } from '../routes.ts';
import { text } from '../strings/index.ts';

/** Milliseconds without typing before the request is sent. */
const restMs = 300;

interface Props {
  schedule: string;
  timeZone?: string | undefined;
}

/** Next times of a schedule that is being typed, or the reason why there are none. */
export const NextTimes = ({ schedule, timeZone }: Props) => {
  const load = async (signal: AbortSignal) => {
    if (schedule === '' || !isAllowed('previewSchedule')) return undefined;
    await new Promise((resolve) => setTimeout(resolve, restMs));
    if (signal.aborted) return undefined;
    return client.previewSchedule({ schedule, ...(timeZone !== undefined && { timeZone }) }, { signal });
  };
  const { value, error } = useResource(load, { key: JSON.stringify({ schedule, timeZone }), isKept: true });
  const said =
    error?.status === 400
      ? error.message
      : value && text.silences.nextTimes(value.data.map((at) => toMinute(Date.parse(at))));
  return (
    <p class="hint" role="status">
      {said}
    </p>
  );
};
