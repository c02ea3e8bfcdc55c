import type { AddressChoice } from '../list-address.ts';
import { Segments } from './chip.tsx';

interface Props<T extends string> {
  label: string;
  choice: AddressChoice<T>;
  labels: Record<T, string>;
}

/** Segmented control for a choice stored in the URL. */
export const AddressSegments = <T extends string>({ label, choice, labels }: Props<T>) => (
  <Segments
    label={label}
    value={choice.read()}
    options={choice.values.map((value) => [value, labels[value]] as const)}
    onValue={choice.choose}
  />
);
