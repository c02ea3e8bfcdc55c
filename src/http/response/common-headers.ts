/** Headers on every answer of the API, errors included; files replace `Cache-Control` by their own. */
const securityHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
} as const;

/** Further headers on every response while pages of all origins may use the service. */
const corsHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET,POST,PUT,DELETE',
} as const;

export type Headers = Readonly<Record<string, string>>;

/** What every response carries, also those that are made before any route or hook has run. */
export const createAlwaysHeaders = (cors: boolean): Headers =>
  cors ? { ...securityHeaders, ...corsHeaders } : securityHeaders;
