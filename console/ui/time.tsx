import { untilTime } from '../clock.ts';
import { toFull, toRelative, toTime } from '../format.ts';

interface Props {
  /** Timestamp from the server. */
  time: string;
}

/** Time of an event, with the exact time as a tooltip. */
export const At = ({ time }: Props) => (
  <time dateTime={time} title={toFull(new Date(time))}>
    {toTime(new Date(time))}
  </time>
);

/** Time since an event, with the exact time as a tooltip. */
export const Ago = ({ time }: Props) => (
  <time dateTime={time} title={toFull(new Date(time))}>
    {toRelative(untilTime(Date.parse(time)))}
  </time>
);
