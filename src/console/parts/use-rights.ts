import { useQuery } from '@tanstack/react-query'
import type { ConsoleAction, Rights } from '../../api/console.ts'
import type { TroubleView } from '../../api/console-trouble.ts'
import type { Link } from '../live/live-state.ts'
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
  return hindranceOf(action, { link, trouble: state?.trouble }, rights?.actions[action])
}

interface Way {
  readonly link: Link
  readonly trouble: TroubleView | undefined
}

/** What is shown may be old and the API server there all the same: then above all one must be able to stop. */
export function hindranceOf(
  action: ConsoleAction,
  { link, trouble }: Way,
  right: Rights['actions'][ConsoleAction] | undefined,
): string | undefined {
  if (link !== 'live') return 'not connected: nothing can be asked for'
  if (trouble?.answers === false) return 'the API server cannot be reached: nothing can be asked for'
  if (right === undefined || right.allowed) return undefined
  return `needs the right ${right.missing ?? `to ${action}`}`
}
