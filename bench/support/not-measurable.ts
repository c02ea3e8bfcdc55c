/** Why something cannot be measured here: nothing is wrong with what is measured. */
export class NotMeasurable extends Error {}
