/** Driver of MySQL, which the build puts into a file of its own. */
export { createConnection } from 'mysql2';
