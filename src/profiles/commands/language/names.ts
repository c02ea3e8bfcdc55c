/** The known name that a text is, without regard to the case of ASCII letters alone: no look-alike is taken for one. */
export const findName = <N extends string>(names: readonly N[], text: string): N | undefined =>
  /^\p{ASCII}*$/u.test(text) ? names.find((name) => name.toLowerCase() === text.toLowerCase()) : undefined;
