/** Test apps' passwords and signing key. */
export const passwords = { admin: 'correct horse', reader: 'battery staple' };
export const secret = 'a signing key for tests, 32 bytes or more';
