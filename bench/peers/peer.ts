/** A program that is told to keep records, run on a folder of its own. */
export interface Peer {
  name: string;
  /** Starts it on the folder, which may hold what an earlier run left; resolves once it answers. */
  start(folder: string): Promise<RunningPeer>;
}

export interface RunningPeer {
  /** A connection of its own, where the program has such. */
  connect(): Promise<Connection>;
  /** Every record it has, as often as it has it. */
  list(): Promise<string[]>;
  /** SIGKILL; resolves once it is gone. */
  kill(): Promise<void>;
}

export interface Connection {
  /** Whether the program says that it has the record now; false also where it is gone. */
  send(record: string): Promise<boolean>;
  close(): void;
}
