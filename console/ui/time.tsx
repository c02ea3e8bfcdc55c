import { untilTime } from '../clock.ts';
import { toFull, toRelative, toTime } from '../format.ts';

interface Props {
  /** As the server has it. */
  time: string;
}

/** When something was; its hint is exact. */
export const At = ({ time }: Props) => (
  <time dateTime={time} title={toFull(new Date(time))}>
    {toTime(new Date(time))}
  </time>
);

/** How long ago something was; its hint is when. */
export const Ago = ({ time }: Props) => (
  <time dateTime={time} title={toFull(new Date(time))}>
    {toRelative(untilTime(Date.parse(time)))}
  </time>
);
