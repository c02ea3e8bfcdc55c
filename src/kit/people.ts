/**
 * Returns the name of an author for people: `anna` for `user:anna`, `the key backup` for `key:backup`, `10.0.0.1` for
 * `address:10.0.0.1`, `somebody via phone` for `destination:phone`.
 */
export const toPerson = (name: string): string =>
  name
    .replace(/^(?:user|address):/, '')
    .replace(/^key:/, 'the key ')
    .replace(/^destination:/, 'somebody via ');

/**
 * Returns the target for the user who acted: `person:anna` for `anna` and for `destination:anna/phone`. Undefined for
 * other authors.
 */
export const toUserTarget = (author: string): string | undefined => {
  const name = author.replace(/^user:/, '').replace(/^destination:([^/]+)\/.*$/, '$1');
  return name === '' || name.includes(':') ? undefined : joinTarget('person', name);
};

/** Kind of a target for notifications: person, destination or rotation, such as `person:anna`. */
type TargetKind = 'person' | 'destination' | 'rotation';

export const joinTarget = (kind: TargetKind, name: string): string => `${kind}:${name}`;

export const splitTarget = (target: string): [kind: string, name: string] => {
  const at = target.indexOf(':');
  return [target.slice(0, at), target.slice(at + 1)];
};

/** Returns the names of all targets of one kind. */
export const listNamesOf = (targets: readonly string[], kind: TargetKind): string[] =>
  targets.map(splitTarget).flatMap(([own, name]) => (own === kind ? [name] : []));

/** Returns the name of a target for people: `anna` for `person:anna`, `room` for `destination:room`. */
export const toTargetName = (target: string): string => target.replace(/^(?:person|destination):/, '');
