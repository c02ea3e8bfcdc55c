import { type AppliedOverride, Rotation } from './rotation.ts';
import type { RotationSettings } from './settings.ts';

/** All rotations and their overrides. */
export class Rotations {
  #rotations: readonly Rotation[] = [];
  #members: ReadonlySet<string> = new Set();
  #overrides: readonly AppliedOverride[] = [];
  readonly #listeners: (() => void)[] = [];

  /** Expects settings without problems. */
  constructor(settings: readonly RotationSettings[]) {
    this.changeSettings(settings);
  }

  changeSettings(settings: readonly RotationSettings[]): void {
    this.#rotations = settings.map((each) => new Rotation(each));
    this.#members = new Set(settings.flatMap(({ members }) => members));
    this.setOverrides(this.#overrides);
  }

  /** Replaces the overrides, oldest first. Overrides of removed members and rotations have no effect. */
  setOverrides(overrides: readonly AppliedOverride[]): void {
    this.#overrides = overrides;
    const usable = overrides.filter(({ member }) => this.#members.has(member));
    for (const rotation of this.#rotations) rotation.setOverrides(usable);
    for (const listener of this.#listeners) listener();
  }

  /** Calls the listener when settings or overrides have changed, so that another member may be on call. */
  onChanged(listener: () => void): void {
    this.#listeners.push(listener);
  }

  list(): readonly Rotation[] {
    return this.#rotations;
  }

  find(name: string): Rotation | undefined {
    return this.#rotations.find((rotation) => rotation.name === name);
  }

  /** Members of all rotations; any of them can override any rotation. */
  get members(): ReadonlySet<string> {
    return this.#members;
  }

  /** Returns the targets on call in a rotation at a time: `person:anna` or `destination:anna-phone`; empty in a gap. */
  onCallAt(rotation: string, at: number): string[] {
    const found = this.find(rotation);
    return found ? [`destination:${found.memberAt(at)}`] : [];
  }

  /** True if a destination is on call at a time (Unix milliseconds), or is in no rotation. */
  isOnCall(destination: string, at: number): boolean {
    return !this.#members.has(destination) || this.#rotations.some((rotation) => rotation.memberAt(at) === destination);
  }

  /** Returns the first time after `at` when `isOnCall` may change; undefined if unknown. */
  nextHandoverAfter(at: number): number | undefined {
    const times = this.#rotations.flatMap((rotation) => rotation.nextChangeAfter(at) ?? []);
    return times.length > 0 ? Math.min(...times) : undefined;
  }
}
