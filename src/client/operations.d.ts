/**
 * Exports of the client for the routes and topics of this program. The build copies this file to the end of
 * client.d.ts, after the other types.
 */

/** Input and output of each method. */
export type Operations = { [K in keyof operations]: ToOperation<operations[K]> };

export type SignalboxClient = Client<Operations, Topics>;

/** Error that the client throws. Its class is in send.ts. */
export type ClientError = ClientFailure;
export declare const ClientError: { new (code: ClientFailure['code'], message: string): ClientFailure };

/**
 * Creates a client for the signalbox server at an address. If a proxy serves signalbox under a path, the address
 * includes that path. On a web page, the address may be relative. Sends nothing before the first call. Throws a
 * TypeError for an invalid address.
 */
export declare const createClient: (url: string, options?: ClientOptions) => SignalboxClient;
