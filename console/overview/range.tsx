import { createAddressChoice } from '../list-address.ts';
import { isMounted } from '../routes.ts';
import { text } from '../strings/index.ts';
import { AddressSegments } from '../ui/address-segments.tsx';
import type { Span } from '../ui/samples.ts';

const words = text.overview;

/** Time span of the charts, stored in the URL. */
export const spanChoice = createAddressChoice<Span>('range', ['live', 'day'], 'live');

export const RangeChoice = () =>
  isMounted('getHealth') && <AddressSegments label={words.range} choice={spanChoice} labels={words} />;
