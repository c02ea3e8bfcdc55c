import type { Settings } from './schema.ts';

/** Fewest bytes of a key for HS256 (RFC 7518, 3.2). */
export const minimumSecretBytes = 32;

/** What keeps the secrets from signing tokens, as clauses that show nothing of them. */
export const findSecretProblems = ({ jwtSecret, jwtPreviousSecret }: Settings): string[] => {
  const problems = Object.entries({ jwtSecret, jwtPreviousSecret }).flatMap(([name, secret]) =>
    secret === undefined ? [] : findLengthProblem(name, secret),
  );
  if (jwtPreviousSecret !== undefined && jwtSecret === undefined) {
    problems.push('jwtPreviousSecret has no effect without jwtSecret: set both');
  }
  if (jwtPreviousSecret !== undefined && jwtPreviousSecret === jwtSecret) {
    problems.push('jwtPreviousSecret must be another one than jwtSecret');
  }
  return problems;
};

const findLengthProblem = (name: string, secret: string): string[] => {
  const bytes = Buffer.byteLength(secret);
  return bytes < minimumSecretBytes
    ? [`${name} must be at least ${minimumSecretBytes} bytes long, not ${bytes}`]
    : [];
};
