import { BlockList, isIP } from 'node:net';

/** Makes the function that tells whether an address is that of a proxy whose X-Forwarded-For is trusted. */
export const createProxyCheck = (blocks: readonly string[]): ((address: string | undefined) => boolean) => {
  const list = new BlockList();
  for (const block of blocks) {
    const [address = '', prefix] = block.split('/');
    const family = toFamily(address);
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return (address = '') => blocks.length > 0 && isIP(address) !== 0 && list.check(address, toFamily(address));
};

const toFamily = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');
