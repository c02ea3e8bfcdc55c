/** File of sql.js that includes its WebAssembly, so that the bundle needs no second file. */
declare module 'sql.js/dist/sql-wasm-inline.js' {
  import initSqlJs = require('sql.js');
  export default initSqlJs;
}
