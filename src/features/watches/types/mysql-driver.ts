/** MySQL driver, which the build bundles into a separate file. */
export { createConnection } from 'mysql2';
