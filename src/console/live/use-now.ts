import { useContext, useEffect, useState } from 'react'
import { LiveContext } from './use-live.tsx'

/** The server's time, as this browser counts it: drawn again every `stepMs`, and not at all while the page is hidden. */
export function useNow(stepMs: number): number {
  const live = useContext(LiveContext)
  const [, draw] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') draw((count) => count + 1)
    }, stepMs)
    return () => clearInterval(timer)
  }, [stepMs])
  return Date.now() + live.look().skewMs
}
