import { type Params, place, setParams } from './router.ts';

/** List filter stored in URL parameters. */
export interface AddressFilter<Name extends string> {
  /** Returns the parameters that are set. */
  read: () => Partial<Record<Name, string>>;
  isSet: () => boolean;
  clear: () => void;
}

export const createAddressFilter = <Name extends string>(names: readonly Name[]): AddressFilter<Name> => {
  const read = () => {
    const { params } = place.value;
    const set = names.flatMap((name) => (params[name] ? [[name, params[name]] as const] : []));
    return Object.fromEntries(set) as Partial<Record<Name, string>>;
  };
  return { read, isSet: () => Object.keys(read()).length > 0, clear: () => setParams(toCleared(names)) };
};

const toCleared = (names: readonly string[]): Params => Object.fromEntries(names.map((name) => [name, undefined]));

/** Choice stored in a URL parameter. */
export interface AddressChoice<T extends string> {
  values: readonly T[];
  read: () => T;
  choose: (value: T) => void;
}

/**
 * Creates a choice. A missing parameter means the default. Choosing an option removes the parameters listed in
 * `others`.
 */
export const createAddressChoice = <T extends string>(
  name: string,
  values: readonly T[],
  usual: NoInfer<T>,
  others: readonly string[] = [],
): AddressChoice<T> => ({
  values,
  read: () => values.find((value) => value === place.value.params[name]) ?? usual,
  choose: (value) => setParams({ ...toCleared(others), [name]: value === usual ? undefined : value }),
});

/** Returns the number of loaded pages of a list. */
export const readPageCount = (): number => Math.max(1, Number(place.value.params['pages']) || 1);

export const showNextPage = (): void => setParams({ pages: String(readPageCount() + 1) }, { replace: true });
