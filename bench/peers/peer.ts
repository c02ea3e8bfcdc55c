/** A program that stores records durably, run on its own folder. */
export interface Peer {
  name: string;
  /** Starts the program on the folder, which may hold data of an earlier run; resolves once it responds. */
  start(folder: string): Promise<RunningPeer>;
}

export interface RunningPeer {
  /** Opens a separate connection if the program has connections. */
  connect(): Promise<Connection>;
  /** All stored records, including duplicates. */
  list(): Promise<string[]>;
  /** Sends SIGKILL; resolves once the process has ended. */
  kill(): Promise<void>;
}

export interface Connection {
  /** Resolves to true if the program acknowledges the record; false also if it has ended. */
  send(record: string): Promise<boolean>;
  close(): void;
}
