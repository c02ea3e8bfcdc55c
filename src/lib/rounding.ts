/** Rounds a number to five significant digits, or to an integer from 1000 up. */
export const roundFigure = (figure: number): number =>
  Math.abs(figure) >= 1000 ? Math.round(figure) : Number(figure.toPrecision(5));

/** Rounds a figure for JSON; null if unknown. */
export const roundFigureOrNull = (figure: number): number | null =>
  Number.isFinite(figure) ? roundFigure(figure) : null;
