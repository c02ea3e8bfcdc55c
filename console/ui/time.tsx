import { untilTime } from '../clock.ts';
import { toDuration, toFull, toMinute, toRelative, toTime } from '../format.ts';
import { text } from '../strings/index.ts';

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

/** Start and duration of a state: `since 14:05 (2 h 3 min)`. */
export const Since = ({ time }: Props) => {
  const at = Date.parse(time);
  return <time dateTime={time}>{text.since(toMinute(at), toDuration(Math.max(0, -untilTime(at) / 1000)))}</time>;
};
