import './tokens.css'
import './base.css'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { LiveState } from './live/live-state.ts'
import { openStream } from './live/open-stream.ts'
import { LiveProvider } from './live/use-live.tsx'
import { showTheme, storedTheme } from './shell/theme.ts'

showTheme(storedTheme())
const live = new LiveState()
const tryNow = openStream(live)
// The server is on this very machine: it can be asked however the network is.
const networkMode = 'always'
const queries = new QueryClient({
  defaultOptions: { queries: { retry: false, refetchOnWindowFocus: false, networkMode }, mutations: { networkMode } },
})

const place = document.getElementById('page')
if (place) {
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <LiveProvider live={live}>
          <App tryNow={tryNow} />
        </LiveProvider>
      </QueryClientProvider>
    </StrictMode>,
  )
}
