import { useQuery } from '@tanstack/react-query'
import type { Rights } from '../../api/console.ts'
import { Button } from '../parts/button.tsx'
import { Screen } from '../parts/screen.tsx'
import { ErrorState } from '../parts/states.tsx'
import { ask, RequestFailed } from '../request.ts'

const unknown = new RequestFailed({
  code: 'Unreachable',
  message: 'the console’s server does not send its state',
  nextStep: 'is slipway console still running in its terminal? Open the address it printed',
})

/** A stream does not say why it fails; an ordinary question does. */
export function useLinkError(): Error | null {
  return useQuery({ queryKey: ['link'], queryFn: () => ask<Rights>('rights'), refetchInterval: 5_000, gcTime: 0 }).error
}

export function NoLink({ tryNow }: { readonly tryNow: () => void }) {
  const error = useLinkError()
  return (
    <Screen>
      <ErrorState title="There is nothing to show yet" error={error ?? unknown}>
        <Button onClick={tryNow}>Try now</Button>
      </ErrorState>
    </Screen>
  )
}
