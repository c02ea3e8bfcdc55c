/** MySQL driver. The build bundles it into a separate file. */
export { createConnection } from 'mysql2';
