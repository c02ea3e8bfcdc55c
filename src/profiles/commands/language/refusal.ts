/** Why a command line is not run. The reason is for people and names what was refused. */
export class Refusal {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

const longestQuote = 40;

/** A part of the command line as it may appear in a reason: in double quotes, and cut where it is long. */
export const quote = (text: string): string => `"${cut(text)}"`;

/** At most 40 characters of a text. */
export const cut = (text: string): string => {
  const points = [...text];
  return points.length > longestQuote ? `${points.slice(0, longestQuote).join('')}…` : text;
};
