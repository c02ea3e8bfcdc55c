/** File of sql.js that contains its WebAssembly, so that the bundle needs no other file. */
declare module 'sql.js/dist/sql-wasm-inline.js' {
  import initSqlJs = require('sql.js');
  export default initSqlJs;
}
