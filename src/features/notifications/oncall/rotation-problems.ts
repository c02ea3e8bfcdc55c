import type { DestinationSettings } from '../settings.ts';
import { toRotation } from './create-rotation.ts';
import type { RotationSettings } from './settings.ts';

/** Returns problems with rotations, as clauses that name the rotation. */
export const findRotationProblems = (settings: {
  rotations: readonly RotationSettings[];
  destinations: readonly DestinationSettings[];
}): string[] => {
  const { rotations, destinations } = settings;
  const names = rotations.map((each) => each.name.toLowerCase());
  return rotations.flatMap((rotation, index) => {
    const problems = findMemberProblems(rotation, destinations);
    if (names.indexOf(rotation.name.toLowerCase()) !== index) problems.unshift('is defined twice: rename one rotation');
    try {
      toRotation(rotation);
    } catch (error) {
      problems.push((error as Error).message);
    }
    return problems.map((problem) => `rotation ${JSON.stringify(rotation.name)}: ${problem}`);
  });
};

const findMemberProblems = (
  { members = [] }: RotationSettings,
  destinations: readonly DestinationSettings[],
): string[] => {
  const known = destinations.map((each) => each.name).join(', ') || 'none';
  return [...new Set(members)].flatMap((member) => {
    const destination = destinations.find((each) => each.name === member);
    if (!destination) {
      return [`there is no destination ${JSON.stringify(member)}; the settings define: ${known}`];
    }
    if (destination.notify === 'incidents') return [];
    return [
      `member ${JSON.stringify(member)} is a destination that gets every alert: set notify of the destination to incidents`,
    ];
  });
};
