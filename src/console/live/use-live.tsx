import { createContext, type ReactNode, useContext, useSyncExternalStore } from 'react'
import type { ConsoleState } from '../../api/console.ts'
import { LiveState, type Picture } from './live-state.ts'

export const LiveContext = createContext(new LiveState())

export function LiveProvider({ live, children }: { readonly live: LiveState; readonly children: ReactNode }) {
  return <LiveContext value={live}>{children}</LiveContext>
}

export function usePicture(): Picture {
  const live = useContext(LiveContext)
  return useSyncExternalStore(live.subscribe, live.look)
}

/** Whether the cluster is in memory. That never changes: nobody has to listen for it. */
export function useInMemory(): boolean {
  return useContext(LiveContext).look().state?.cluster.demo ?? false
}

/** One part of the state; the reader is drawn again only when that part changed. */
export function useLive<T>(part: (state: ConsoleState) => T): T | undefined {
  const live = useContext(LiveContext)
  return useSyncExternalStore(live.subscribe, () => {
    const { state } = live.look()
    return state && part(state)
  })
}
