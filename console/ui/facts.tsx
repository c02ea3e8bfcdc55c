import { LongText } from './long-text.tsx';

/** Names with their values, one pair a line. */
export const Facts = ({ facts }: { facts: [name: string, value: string][] }) => (
  <dl class="pairs">
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>
          <bdi>{name}</bdi>
        </dt>
        <dd>
          <LongText value={value} most={500} />
        </dd>
      </div>
    ))}
  </dl>
);
