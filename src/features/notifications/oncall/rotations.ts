import type { AppliedOverride, Rotation } from './rotation.ts';

/** Rotations and overrides as they are stored. */
interface RotationSource {
  listRotations(): readonly Rotation[];
  /** Lists the overrides, oldest first. Overrides whose member or rotation has been removed have no effect. */
  listOverrides(): readonly AppliedOverride[];
  /** True for the name of a user. People who are not users are skipped. */
  isUser(name: string): boolean;
}

/** All rotations with their overrides. */
export class Rotations {
  readonly #source: RotationSource;
  #rotations: readonly Rotation[] = [];
  #members: ReadonlySet<string> = new Set();
  readonly #listeners: (() => void)[] = [];

  constructor(source: RotationSource) {
    this.#source = source;
    this.refresh();
  }

  /** Reads the rotations and overrides again. Called after a change to them or to the users. */
  refresh(): void {
    const { listRotations, listOverrides } = this.#source;
    const rotations = listRotations();
    this.#members = new Set(rotations.flatMap(({ kind, members }) => (kind === 'destination' ? members : [])));
    const overrides = listOverrides();
    this.#rotations = rotations.map((rotation) =>
      rotation.with(overrides, (member) => this.mayBeOnCall(rotation, member)),
    );
    for (const listener of this.#listeners) listener();
  }

  /** Calls the listener after a change to settings or overrides. Another member may then be on call. */
  onChanged(listener: () => void): void {
    this.#listeners.push(listener);
  }

  list(): readonly Rotation[] {
    return this.#rotations;
  }

  find(name: string): Rotation | undefined {
    return this.#rotations.find((rotation) => rotation.name === name);
  }

  /** Members of all rotations of destinations. Each can take over in any of these rotations. */
  get members(): ReadonlySet<string> {
    return this.#members;
  }

  /** True if the member can be on call through the rotation's shifts or overrides. */
  mayBeOnCall({ kind }: Rotation, member: string): boolean {
    return kind === 'person' ? this.#source.isUser(member) : this.#members.has(member);
  }

  /** Returns the targets on call in a rotation at a time: `person:anna` or `destination:anna-phone`. Empty in a gap. */
  onCallAt(rotation: string, at: number): string[] {
    const found = this.find(rotation);
    const member = found?.memberAt(at);
    return found && member !== undefined ? [`${found.kind}:${member}`] : [];
  }

  /** True if a destination is on call at a time (Unix milliseconds), or belongs to no rotation. */
  isOnCall(destination: string, at: number): boolean {
    const isOn = (rotation: Rotation) => rotation.kind === 'destination' && rotation.memberAt(at) === destination;
    return !this.#members.has(destination) || this.#rotations.some(isOn);
  }

  /** Returns the first time after `at` at which `isOnCall` may change. Undefined if unknown. */
  nextHandoverAfter(at: number): number | undefined {
    const times = this.#rotations.flatMap((rotation) => rotation.nextChangeAfter(at) ?? []);
    return times.length > 0 ? Math.min(...times) : undefined;
  }
}
