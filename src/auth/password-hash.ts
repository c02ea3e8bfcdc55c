/**
 * Most that checking a password may cost: 256 MiB of memory, and 1 GiB times passes, some seconds. Two are checked
 * at a time. RFC 9106, 4, recommends 2 GiB or 64 MiB with 3 passes; the first is not for a server like this.
 */
const maximum = { memory: 256 * 1024, work: 1024 * 1024, lanes: 16 };

/** Fewest bytes of salt and hash (RFC 9106, 3.1). */
const minimum = { salt: 8, hash: 4 };

/**
 * What keeps an argon2id hash in PHC form from being used, as a clause: `asks for ...`; undefined when it can be.
 * `passwordHash` is `$argon2id$v=19$m=KIBIBYTES,t=PASSES,p=LANES$SALT$HASH`.
 */
export const findHashProblem = (passwordHash: string): string | undefined => {
  const [, , , parameters = '', salt = '', hash = ''] = passwordHash.split('$');
  const [memory = 0, passes = 0, lanes = 0] = parameters.split(',').map((text) => Number(text.slice(2)));
  if (memory < 8 * lanes || passes < 1 || lanes < 1)
    return 'asks for less memory, passes or lanes than there can be';
  if (lanes > maximum.lanes) return `asks for more than ${maximum.lanes} lanes (p)`;
  if (memory > maximum.memory) return `asks for more than ${maximum.memory} KiB of memory (m)`;
  if (memory * passes > maximum.work) return `asks for too much work: m times t is more than ${maximum.work}`;
  if (toBytes(salt) < minimum.salt) return `has a salt of fewer than ${minimum.salt} bytes`;
  return toBytes(hash) < minimum.hash ? `has a hash of fewer than ${minimum.hash} bytes` : undefined;
};

const toBytes = (base64: string): number => Buffer.from(base64, 'base64').length;
