import { place, setParams } from '../router.ts';
import { isMounted } from '../routes.ts';
import { text } from '../strings/index.ts';
import { Segments } from '../ui/chip.tsx';
import type { Span } from '../ui/samples.ts';

const words = text.overview;

/** The time that charts show, as the address says. */
export const readSpan = (): Span => (place.value.params['range'] === 'day' ? 'day' : 'live');

export const RangeChoice = () =>
  isMounted('getHealth') && (
    <Segments
      label={words.range}
      value={readSpan()}
      options={[
        ['live', words.live],
        ['day', words.day],
      ]}
      onValue={(span) => setParams({ range: span === 'live' ? undefined : span })}
    />
  );
