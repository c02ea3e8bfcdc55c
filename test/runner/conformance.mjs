/** Number of the API's details, D1 to D41; a test must name each of them. */
const details = 41;

/** Returns the faults of the statements about the API that tests have confirmed, a line each. */
export const checkStatements = (tests) => {
  const ids = tests.flatMap(toId);
  const named = new Set(ids.map((id) => id.replace(/[a-z]+$/, '')));
  const wanted = Array.from({ length: details }, (_, index) => `D${index + 1}`);
  return [
    ...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `two tests have the id ${id}`),
    ...wanted.filter((id) => !named.has(id)).map((id) => `no test has the id ${id}`),
  ];
};

/** Returns the id at the beginning of a name: `T10 CreatedAt is the local time of creation`. */
const toId = ({ file, name, nesting, state, variables }) => {
  const isConfirmed = nesting === 0 && (state === 'passed' || state === 'flaky') && variables === undefined;
  return isConfirmed && file.startsWith('test/conformance/') ? (/^([A-Z]\d+[a-z]*) ./.exec(name)?.slice(1) ?? []) : [];
};
