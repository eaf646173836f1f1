// Over the foot while nothing new arrives: what is wrong, how old the picture is, what goes on meanwhile. Nothing moves for it.

import type { Picture } from '../live/live-state.ts'
import { usePicture } from '../live/use-live.tsx'
import { Button } from '../parts/button.tsx'
import { Glyph } from '../parts/glyph.tsx'
import { clockText } from '../parts/instant.ts'
import { ReasonText } from '../parts/reason-text.tsx'
import { RequestFailed } from '../request.ts'
import styles from './link-bar.module.css'
import { useLinkError } from './no-link.tsx'

/** Whether what is shown may be out of date. */
export function isStale({ link, state }: Picture): boolean {
  return link === 'lost' || state?.trouble !== undefined
}

export function LinkBar({ tryNow }: { readonly tryNow: () => void }) {
  const picture = usePicture()
  return (
    <div role="status" aria-label="Link">
      {picture.state && isStale(picture) && (
        <div className={styles.bar}>
          <Glyph name="offline" className={styles.glyph} />
          <Trouble picture={picture} />
          {picture.link === 'lost' && (
            <Button small onClick={tryNow}>
              Try now
            </Button>
          )}
        </div>
      )}
    </div>
  )
}

function Trouble({ picture: { link, lostAt = 0, state } }: { readonly picture: Picture }) {
  if (link === 'lost') return <LostLink sinceMs={lostAt} />
  if (!state?.trouble) return null
  const { since, message, nextStep, answers } = state.trouble
  return (
    <p>
      <b>{answers ? 'The API server does not tell what is new.' : 'Cannot reach the API server.'}</b> What you see is
      from {clockText(Date.parse(since))} and may be out of date. The cluster goes on without the console.{' '}
      <ReasonText message={message} />. Next: <ReasonText message={nextStep} />
    </p>
  )
}

/** Restarted, it has another token: then it does answer, and says what to do. */
function LostLink({ sinceMs }: { readonly sinceMs: number }) {
  const error = useLinkError()
  const refused = error instanceof RequestFailed && error.code !== 'Unreachable' ? error : undefined
  return (
    <p>
      <b>{refused ? 'The console’s server refuses this page.' : 'The console’s server does not answer.'}</b> What you
      see is from {clockText(sinceMs)} and may be out of date. The cluster goes on without the console.{' '}
      {refused ? (
        <>
          <ReasonText message={refused.message} />. Next: <ReasonText message={refused.nextStep} />
        </>
      ) : (
        'It tries again by itself; is slipway console still running in its terminal?'
      )}
    </p>
  )
}
