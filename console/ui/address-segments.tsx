import type { AddressChoice } from '../list-address.ts';
import { Segments } from './chip.tsx';

interface Props<T extends string> {
  label: string;
  choice: AddressChoice<T>;
  labels: Record<T, string>;
}

/** The values of a parameter of the address beside each other, one of which is always on. */
export const AddressSegments = <T extends string>({ label, choice, labels }: Props<T>) => (
  <Segments
    label={label}
    value={choice.read()}
    options={choice.values.map((value) => [value, labels[value]] as const)}
    onValue={choice.choose}
  />
);
