import type { VNode } from 'preact';
import { toPerson } from '../../src/kit/people.ts';
import { toFull } from '../format.ts';
import { text } from '../strings/index.ts';
import { LongText } from './long-text.tsx';

/** Name and value. Hidden if the value is missing. */
export type Fact = [name: string, value: string | VNode | null | undefined | false];

/** List of names and values, one pair per line. */
export const Facts = ({ facts }: { facts: readonly Fact[] }) => (
  <dl class="pairs">
    {facts.map(
      ([name, value]) =>
        value !== undefined &&
        value !== null &&
        value !== false && (
          <div key={name}>
            <dt>
              <bdi>{name}</bdi>
            </dt>
            <dd>{typeof value === 'string' ? <LongText value={value} most={500} /> : value}</dd>
          </div>
        ),
    )}
  </dl>
);

/** Formats the author and time of an action. */
export const toDoneBy = (name: string | null | undefined, time: string | null | undefined): Fact[1] =>
  name && time && text.doneBy(toPerson(name), toFull(new Date(time)));
