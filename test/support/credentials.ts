/** Passwords and signing key of test apps. */
export const passwords = { admin: 'correct horse', reader: 'battery staple' };
export const secret = 'a signing key for tests, 32 bytes or more';
