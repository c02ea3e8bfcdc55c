/** A command line that is not allowed. The reason is shown to the client and names the refused part. */
export class Refusal {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

const longestQuote = 40;

/** A part of the command line for a reason: in double quotes, cut if long. */
export const quote = (text: string): string => `"${cut(text)}"`;

/** The first 40 characters, with an ellipsis if there are more. */
export const cut = (text: string): string => {
  const points = [...text];
  return points.length > longestQuote ? `${points.slice(0, longestQuote).join('')}…` : text;
};
