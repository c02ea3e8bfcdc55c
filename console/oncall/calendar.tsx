import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { OnCall } from 'signalbox/client';
import { client } from '../api.ts';
import { serverNow } from '../clock.ts';
import { toMinute, toShortDay } from '../format.ts';
import { useResource } from '../live/resource.ts';
import { isAllowed } from '../routes.ts';
import { session } from '../session.ts';
import { onCallTexts as words } from '../strings/oncall.ts';
import { OverrideDialog } from '../ui/override-dialog.tsx';
import { Unloaded } from '../ui/panel.tsx';
import { toTyped } from '../zone.ts';
import { useRange } from './range.ts';
import { listDays, placeIn, type ShownPeriod } from './weeks.ts';

interface ShownShift extends ShownPeriod {
  person: string | null;
  isOverride: boolean;
}

interface Props {
  onCall: OnCall;
  /** Dates in `YYYY-MM-DD` form. */
  holidays: readonly string[];
  page: number;
  onPage: (page: number) => void;
  onChanged: () => void;
}

/**
 * Four weeks of a rotation: bars by person and gaps in red, or a list on narrow screens. A click overrides a shift. To
 * override several shifts together, draw a range, or choose shifts with Shift and the arrow keys.
 */
export const RotationCalendar = ({ onCall, holidays, page, onPage, onChanged }: Props) => {
  const { rotation } = onCall;
  const days = listDays(page);
  const [from = 0, until = 0] = [days[0], days.at(-1)];
  const load = async (signal: AbortSignal): Promise<ShownShift[]> => {
    const query = { rotation, from: new Date(from).toISOString(), until: new Date(until).toISOString() };
    const { data } = await client.getRotationCalendar(query, { signal });
    return data.map(({ person, override, startsAt, endsAt }) => ({
      person,
      isOverride: override !== null,
      start: startsAt === null ? Number.NEGATIVE_INFINITY : Date.parse(startsAt),
      end: endsAt === null ? Number.POSITIVE_INFINITY : Date.parse(endsAt),
    }));
  };
  const { value, error, reload } = useResource(load, { key: `${rotation} ${from}`, topic: 'oncall' });
  const chosen = useSignal<ShownPeriod | undefined>(undefined);
  /** First shift of a range that is being chosen with the keyboard. */
  const anchor = useSignal<ShownShift | undefined>(undefined);
  /** True while Shift is held. The range begins at the shift that had the focus when Shift was pressed. */
  const isExtending = useRef(false);
  const mayOverride = isAllowed('createDutyOverride');
  const choose = (range: ShownPeriod): void => {
    if (mayOverride && range.end > serverNow()) chosen.value = range;
  };
  const begin = (shift: ShownShift): void => {
    if (!isExtending.current) anchor.value = shift;
  };
  const { range: drawn, handlers, cancel } = useRange(mayOverride, choose);
  if (!value) return <Unloaded error={error} reload={reload} lines={8} />;
  const own = session.value ? [session.value.name] : [];
  const members = onCall.kind === 'person' ? [...new Set([...onCall.members, ...own])] : onCall.members;
  const free = days.slice(0, -1).filter((day) => holidays.includes(toTyped(day).slice(0, 10)));
  const weeks = Array.from({ length: (days.length - 1) / 7 }, (_, week) => days.slice(week * 7, week * 7 + 8));
  return (
    <section
      class="rotation-calendar"
      aria-label={words.calendarOf(rotation)}
      onPointerDownCapture={(event) => {
        isExtending.current = event.shiftKey;
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') cancel();
        isExtending.current = event.shiftKey;
        moveFocus(event, page, onPage);
      }}
    >
      <div class="calendar-weeks" {...handlers}>
        {weeks.map((week) => (
          <div key={week[0]} class="calendar-week">
            {week.slice(0, 7).map((day) => (
              <span key={day} class={`calendar-day ${free.includes(day) ? 'holiday' : ''}`}>
                {toShortDay(day)}
              </span>
            ))}
            <div class="calendar-bars" data-start={week[0]} data-end={week[7]}>
              {drawn && <DrawnRange range={drawn} week={week} />}
              {value.map((shift) => {
                const place = placeIn(shift, week);
                return (
                  place && (
                    <ShiftButton
                      key={`${shift.start} ${shift.person}`}
                      shift={shift}
                      members={onCall.members}
                      style={{ left: `${place.left}%`, width: `${place.width}%` }}
                      onFocus={() => begin(shift)}
                      onClick={(event) => choose(event.shiftKey && anchor.value ? join(anchor.value, shift) : shift)}
                    />
                  )
                );
              })}
            </div>
          </div>
        ))}
      </div>
      <ol class="calendar-list">
        {value.map((shift) => (
          <li key={`${shift.start} ${shift.person}`}>
            <ShiftButton
              shift={shift}
              members={onCall.members}
              onFocus={() => begin(shift)}
              onClick={(event) => choose(event.shiftKey && anchor.value ? join(anchor.value, shift) : shift)}
            />
            <span class="hint">{describeTimes(shift)}</span>
          </li>
        ))}
      </ol>
      {free.length > 0 && <p class="hint">{words.holidaysOf(free.map(toShortDay).join(', '))}</p>}
      {chosen.value && (
        <OverrideDialog
          onCall={onCall}
          members={members}
          range={chosen.value}
          shifts={value}
          onSaved={() => {
            reload();
            onChanged();
          }}
          onClose={() => {
            chosen.value = undefined;
          }}
        />
      )}
    </section>
  );
};

/** Part of a drawn range that lies in one week. */
const DrawnRange = ({ range, week }: { range: ShownPeriod; week: readonly number[] }) => {
  const place = placeIn(range, week);
  return place ? <div class="drawn" style={{ left: `${place.left}%`, width: `${place.width}%` }} /> : null;
};

/** Returns the range from the earlier to the later of two shifts. */
const join = (one: ShownPeriod, other: ShownPeriod): ShownPeriod => ({
  start: Math.min(one.start, other.start),
  end: Math.max(one.end, other.end),
});

interface ButtonProps {
  shift: ShownShift;
  members: readonly string[];
  style?: { left: string; width: string };
  onFocus: () => void;
  onClick: (event: MouseEvent) => void;
}

const ShiftButton = ({ shift, members, style, onFocus, onClick }: ButtonProps) => {
  const { person, isOverride } = shift;
  const who = `${person ?? words.gap}${isOverride ? ` (${words.override})` : ''}`;
  const title = `${who}: ${describeTimes(shift)}`;
  return (
    <button
      type="button"
      class={`shift ${person === null ? 'gap' : `person-${toTone(person, members)}`} ${isOverride ? 'overridden' : ''}`}
      style={style}
      title={title}
      aria-label={title}
      onFocus={onFocus}
      onClick={onClick}
    >
      <bdi>{person ?? words.gap}</bdi>
    </button>
  );
};

/** Number of colours for people. */
const tones = 8;

const toTone = (person: string, members: readonly string[]): number => {
  const index = members.indexOf(person);
  return (index < 0 ? person.length + members.length : index) % tones;
};

const describeTimes = ({ start, end }: ShownPeriod): string =>
  [start, end].map((time) => (Number.isFinite(time) ? toMinute(time) : words.open)).join(' – ');

/** Moves the focus between shifts with the arrow keys, and between pages with Page Up and Page Down. */
const moveFocus = (event: KeyboardEvent, page: number, onPage: (page: number) => void): void => {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  const turn = { PageDown: 1, PageUp: -1 }[event.key];
  if (turn !== undefined) onPage(page + turn);
  else if (step !== undefined) {
    const all = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('.shift')];
    const shown = all.filter((each) => each.offsetParent !== null);
    shown[shown.indexOf(document.activeElement as HTMLElement) + step]?.focus();
  } else return;
  event.preventDefault();
};
