import { Icon } from './icon.tsx';

/** Begins something new. */
export const CreateButton = ({ label, onCreate }: { label: string; onCreate: () => void }) => (
  <button type="button" class="primary" onClick={onCreate}>
    <Icon name="plus" /> {label}
  </button>
);
