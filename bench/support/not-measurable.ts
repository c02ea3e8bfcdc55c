/** The reason why something cannot be measured on this machine; not a fault of what is measured. */
export class NotMeasurable extends Error {}
