/** One instance that delivered an alert, as `via` names it. */
const hops = /signalbox\/[0-9a-f]{16}/g;

/** How many of the last instances are kept. */
const mostHops = 16;

/** The instances that a text names, each once; empty if it names none. */
export const readVia = (text: unknown): string[] =>
  typeof text === 'string' ? [...new Set(text.match(hops))].slice(-mostHops) : [];

/** The member `via` of a record whose alert came with this header; nothing if no instance is named. */
export const toViaField = (text: unknown): { via?: string } => {
  const via = readVia(text);
  return via.length > 0 ? { via: via.join(', ') } : {};
};
