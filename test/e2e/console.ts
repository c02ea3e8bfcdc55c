/** For the tests of the API reference. */
export { fillLogin, findFaults } from './support/page.ts';
