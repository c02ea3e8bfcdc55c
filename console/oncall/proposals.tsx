import type { OverrideProposal } from 'signalbox/client';
import { client, userClient } from '../api.ts';
import { toMinute } from '../format.ts';
import { useResource } from '../live/resource.ts';
import { useRun } from '../live/run.ts';
import { isAllowed } from '../routes.ts';
import { onCallTexts as words } from '../strings/oncall.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { Panel } from '../ui/panel.tsx';
import { notify } from '../ui/toast.tsx';

/** Overrides that are proposed because of absences. Empty if there are none. */
export const ProposalsPanel = () => {
  const { value, reload } = useResource((signal) => client.listOverrideProposals(undefined, { signal }), {
    topic: 'oncall',
  });
  if (!value || value.data.length === 0) return null;
  return (
    <Panel title={words.proposals}>
      <ul class="calendar-addresses">
        {value.data.map((proposal) => (
          <Proposal key={proposal.id} proposal={proposal} onChanged={reload} />
        ))}
      </ul>
    </Panel>
  );
};

const Proposal = ({ proposal, onChanged }: { proposal: OverrideProposal; onChanged: () => void }) => {
  const { id, rotation, person, substitute } = proposal;
  const [from, until] = [proposal.startsAt, proposal.endsAt].map((time) => toMinute(Date.parse(time)));
  const accept = useRun(async () => {
    const { member } = await userClient.acceptOverrideProposal({ proposal: id }).finally(onChanged);
    notify(words.accepted(member));
  });
  const decline = useRun(async () => {
    await userClient.declineOverrideProposal({ proposal: id }).finally(onChanged);
    notify(words.declined);
  });
  return (
    <li>
      <span>
        {words.proposal(person, rotation, from ?? '', until ?? '')}{' '}
        {substitute === null ? words.everybodyAbsent : words.substitute(substitute)}
      </span>
      {isAllowed('declineOverrideProposal') && (
        <div class="actions">
          {substitute !== null && (
            <IconButton
              icon="check"
              label={words.accept}
              name={words.acceptOf(person, rotation)}
              isDisabled={accept.isRunning}
              onClick={accept.run}
            />
          )}
          <IconButton
            icon="close"
            label={words.decline}
            name={words.declineOf(person, rotation)}
            isDisabled={decline.isRunning}
            onClick={decline.run}
          />
        </div>
      )}
    </li>
  );
};
