import type { ConsoleAction } from '../../api/console.ts'
import text from './text.module.css'
import { useRights } from './use-rights.ts'

/** One line under a row of buttons: what this person may not do there, and which right it takes. */
export function MissingRights({ actions }: { readonly actions: readonly ConsoleAction[] }) {
  const rights = useRights()
  if (!rights) return null
  const refused = actions.filter((action) => !rights.actions[action].allowed)
  if (refused.length === 0) return null
  const wanted = [...new Set(refused.flatMap((action) => (rights.actions[action].missing ?? action).split(', ')))]
  return (
    <p className={`${text.small} ${text.quiet}`}>
      {rights.user} may not {refused.join(', ')}: needs the right {wanted.join(', ')}
    </p>
  )
}
