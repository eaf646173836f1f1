import { useQuery } from '@tanstack/react-query'
import type { ConsoleAction, Rights } from '../../api/console.ts'
import { usePicture } from '../live/use-live.tsx'
import { ask } from '../request.ts'

/** What the person may do here, asked once; rights change rarely, and the API server has the last word. */
export function useRights(): Rights | undefined {
  return useQuery({ queryKey: ['rights'], queryFn: () => ask<Rights>('rights'), staleTime: 60_000 }).data
}

/** Why an action cannot be asked for now; undefined: it can. */
export function useHindrance(action: ConsoleAction): string | undefined {
  const rights = useRights()
  const { link, state } = usePicture()
  if (link !== 'live') return 'not connected: nothing can be asked for'
  if (state?.trouble) return 'the API server cannot be reached: nothing can be asked for'
  const right = rights?.actions[action]
  if (right === undefined || right.allowed) return undefined
  return `needs the right ${right.missing ?? `to ${action}`}`
}
