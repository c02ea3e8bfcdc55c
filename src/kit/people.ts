/**
 * Who did something, for people: `user:anna` is anna, `key:backup` the key backup, `address:10.0.0.1` 10.0.0.1, and
 * `destination:phone` somebody who was notified there.
 */
export const toPerson = (name: string): string =>
  name
    .replace(/^(?:user|address):/, '')
    .replace(/^key:/, 'the key ')
    .replace(/^destination:/, 'somebody through ');
