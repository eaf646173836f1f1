// The rehearsal that runs in the server: one at a time, and it goes on while its page is left and come back to.

import { useMutation, useMutationState, useQuery, useQueryClient } from '@tanstack/react-query'
import type { PlanAnswer, PlanRequest } from '../../../api/console.ts'
import { ask, send } from '../../request.ts'

const plansKey = ['plans'] as const
const planningKey = ['planning'] as const

interface Attempt {
  readonly request: PlanRequest
  readonly stop: AbortController
}

export interface Planning {
  readonly start: (request: PlanRequest) => void
  readonly running?: { readonly since: number; readonly abort: () => void }
  /** Of the last attempt, where it was not aborted. */
  readonly failed?: { readonly error: Error; readonly request: PlanRequest; readonly forget: () => void }
}

export function usePlanning(onPlanned: (plan: PlanAnswer) => void): Planning {
  const client = useQueryClient()
  const { mutate } = useMutation({
    mutationKey: planningKey,
    mutationFn: ({ request, stop }: Attempt) => send<PlanAnswer>('plans', request, stop.signal),
    onSuccess: (plan) =>
      client.setQueryData<readonly PlanAnswer[]>(plansKey, (before = []) => [
        plan,
        ...before.filter(({ id }) => id !== plan.id),
      ]),
  })
  const attempts = useMutationState({ filters: { mutationKey: planningKey } })
  const last = attempts.at(-1)
  const attempt = last?.variables as Attempt | undefined
  const forget = () => client.getMutationCache().clear()
  const start = (request: PlanRequest) => {
    forget()
    mutate({ request, stop: new AbortController() }, { onSuccess: onPlanned })
  }
  if (!last || !attempt) return { start }
  if (last.status === 'pending')
    return { start, running: { since: last.submittedAt, abort: () => attempt.stop.abort() } }
  if (last.status !== 'error' || attempt.stop.signal.aborted) return { start }
  const error = last.error instanceof Error ? last.error : new Error(String(last.error))
  return { start, failed: { error, request: attempt.request, forget } }
}

/** The last plan of each update, newest first. */
export function usePlans() {
  return useQuery({ queryKey: plansKey, queryFn: () => ask<readonly PlanAnswer[]>('plans') })
}
