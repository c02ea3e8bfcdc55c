/** Rounds a number to five significant digits. From 1000 upwards, rounds to an integer. */
export const roundFigure = (figure: number): number =>
  Math.abs(figure) >= 1000 ? Math.round(figure) : Number(figure.toPrecision(5));

/** Rounds a figure for JSON. Null if unknown. */
export const roundFigureOrNull = (figure: number): number | null =>
  Number.isFinite(figure) ? roundFigure(figure) : null;
