// Before anything is started: what an update would do to this cluster, how long it would take, and what is in its way.

import { useLocation } from 'wouter'
import { Button, LinkButton } from '../parts/button.tsx'
import { Card } from '../parts/card.tsx'
import { PageHead, Screen } from '../parts/screen.tsx'
import { ErrorState, Skeleton } from '../parts/states.tsx'
import { PlanForm } from './plan/plan-form.tsx'
import { PlanResult } from './plan/plan-result.tsx'
import { Rehearsing } from './plan/rehearsing.tsx'
import { usePlanning, usePlans } from './plan/use-planning.ts'

export function PlanPage({ params: { plan: id } }: { readonly params: { readonly plan?: string } }) {
  const [, go] = useLocation()
  const plans = usePlans()
  const { start, running, failed } = usePlanning((plan) => go(`/plan/${encodeURIComponent(plan.id)}`))
  if (running) return <Rehearsing {...running} />
  if (failed) {
    return (
      <Screen>
        <PageHead page="Plan" title="No plan was made" note="Nothing was changed in the cluster." />
        <Card>
          <ErrorState title="The plan could not be made" error={failed.error}>
            <p>
              <Button kind="primary" onClick={() => start(failed.request)}>
                Try again
              </Button>{' '}
              <Button onClick={failed.forget}>Change it</Button>
            </p>
          </ErrorState>
        </Card>
      </Screen>
    )
  }
  if (plans.isPending && id !== 'new') return <Loading />
  const all = plans.data ?? []
  const plan = id === undefined ? all[0] : all.find((one) => one.id === id)
  if (plan && id !== 'new') return <PlanResult plan={plan} others={all} onAgain={start} />
  const lost = id !== undefined && id !== 'new'
  return (
    <Screen>
      <PageHead
        page="Plan"
        title="What should be planned?"
        note={
          lost
            ? 'That plan is gone: plans are kept as long as the console runs. Make it again.'
            : 'It is rehearsed on a copy of this cluster, in memory and in virtual time. Nothing is touched.'
        }
      >
        {all[0] && <LinkButton href={`#/plan/${encodeURIComponent(all[0].id)}`}>Back to the last plan</LinkButton>}
      </PageHead>
      <PlanForm onPlan={start} />
    </Screen>
  )
}

function Loading() {
  return (
    <Screen busy>
      <PageHead page="Plan" title={<Skeleton width="220px" />} note={<Skeleton width="320px" />} />
      <Skeleton height="72px" />
      <Skeleton height="360px" />
    </Screen>
  )
}
